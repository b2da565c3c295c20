const dayMs = 86_400_000;

/** Chunks are numbered by the day on which they came: `day * 2^36 + sequence`. */
export const chunksPerDay = 2 ** 36;

/** Days for which spans and the rows of their traces are kept. */
export const spansKeptDays = 7;

/** Days since the epoch. */
export function dayOf(ms: number): number {
  return Math.floor(ms / dayMs);
}
