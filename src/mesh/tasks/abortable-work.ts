/** The work's end, or the signal's, for work that does not heed it. */
export async function untilAborted<T>(
  work: Promise<T>,
  signal: AbortSignal,
  reasonOf: () => Error = () => signal.reason as Error,
): Promise<T> {
  let stop: (() => void) | undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    const refuse = () => reject(reasonOf());
    stop = () => signal.removeEventListener('abort', refuse);
    signal.addEventListener('abort', refuse, { once: true });
    if (signal.aborted) refuse();
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    stop?.();
  }
}
