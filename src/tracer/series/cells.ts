import type { Level } from './series.ts';

/** Minutes that a cell of a level spans. */
export const cellMinutes: Readonly<Record<Level, number>> = { minute: 1, hour: 60, day: 1_440 };

/** Minutes for which the cells of a level are kept. */
export const keptMinutes: Readonly<Record<Level, number>> = {
  minute: 7 * 1_440,
  hour: 30 * 1_440,
  day: 90 * 1_440,
};

/** How far ahead of the clock something may lie that is counted. */
export const aheadMinutesMax = 1_440;

export const usPerMinute = 60_000_000;

/** What was added to one cell of one series. */
export class Cell {
  count = 0;
  errors = 0;
  sum = 0;
  /** How many durations lie in each bin of the histogram. */
  readonly bins = new Map<number, number>();

  add(count: number, errors: number, sum: number): void {
    this.count += count;
    this.errors += errors;
    this.sum += sum;
  }

  /** Adds a share of another cell, all of it by default. */
  merge({ count, errors, sum, bins }: Cell, share = 1): void {
    this.add(count * share, errors * share, sum * share);
    for (const [bin, inBin] of bins) this.addBin(bin, inBin * share);
  }

  addBin(bin: number, count: number): void {
    this.bins.set(bin, (this.bins.get(bin) ?? 0) + count);
  }
}

/** The first minute of the cell of a level in which a minute lies. */
export function bucketOf(minute: number, level: Level): number {
  return minute - (minute % cellMinutes[level]);
}
