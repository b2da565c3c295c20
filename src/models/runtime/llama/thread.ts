import type { KoffiFunc } from 'koffi';

/** Runs a native function on a thread of its own; the event loop turns meanwhile. */
export function runOnThread<A extends unknown[], R>(
  work: KoffiFunc<(...args: A) => R>,
  ...args: A
): Promise<R> {
  return new Promise((resolve, reject) => {
    work.async(...args, (error: unknown, result: R) => {
      if (error) reject(error instanceof Error ? error : new Error('a native call failed'));
      else resolve(result);
    });
  });
}
