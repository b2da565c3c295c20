/**
 * The work's outcome; rejects where it takes longer than so many milliseconds. The work itself goes on, and
 * what it comes to is nobody's.
 */
export async function within<T>(work: Promise<T>, limitMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${limitMs} ms`)), limitMs);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/** The work's outcome; undefined where it takes longer than so many milliseconds. */
export async function endOrLate<T>(
  work: Promise<T> | undefined,
  limitMs: number,
): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), limitMs);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
