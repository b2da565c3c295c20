/** A promise and its ends. */
export interface Settler {
  readonly promise: Promise<void>;
  resolve(): void;
  reject(error: Error): void;
}

/** A promise that nobody has to wait for: its rejection is never unhandled. */
export function settler(): Settler {
  const settle: { resolve?: () => void; reject?: (error: Error) => void } = {};
  const promise = new Promise<void>((resolve, reject) => {
    settle.resolve = resolve;
    settle.reject = reject;
  });
  promise.catch(() => {});
  return {
    promise,
    resolve: () => settle.resolve?.(),
    reject: (error) => settle.reject?.(error),
  };
}
