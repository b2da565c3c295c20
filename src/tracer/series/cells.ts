import type { CellColumns, Level } from './series.ts';

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

  merge(other: Cell): void {
    this.count += other.count;
    this.errors += other.errors;
    this.sum += other.sum;
    for (const [bin, count] of other.bins) this.bins.set(bin, (this.bins.get(bin) ?? 0) + count);
  }
}

/** Cells of minutes as cells of `width` minutes, by the minute at which each begins. */
export function rollUp(minutes: ReadonlyMap<number, Cell>, width: number): Map<number, Cell> {
  const cells = new Map<number, Cell>();
  for (const [minute, cell] of minutes) {
    const bucket = minute - (minute % width);
    const known = cells.get(bucket);
    if (known === undefined) cells.set(bucket, minutes.size === 1 ? cell : copyOf(cell));
    else known.merge(cell);
  }
  return cells;
}

function copyOf(cell: Cell): Cell {
  const copy = new Cell();
  copy.merge(cell);
  return copy;
}

/** Cells as columns, in the making. */
export class CellWriter {
  readonly #seriesIds: number[] = [];
  readonly #buckets: number[] = [];
  readonly #counts: number[] = [];
  readonly #errors: number[] = [];
  readonly #sums: number[] = [];
  readonly #bins: string[] = [];
  readonly #binCounts: string[] = [];

  get columns(): CellColumns {
    return {
      seriesIds: this.#seriesIds,
      buckets: this.#buckets,
      counts: this.#counts,
      errors: this.#errors,
      sums: this.#sums,
      bins: this.#bins,
      binCounts: this.#binCounts,
    };
  }

  /** Leaves out a cell to which nothing was added in the end. */
  write({ seriesId, bucket, cell, hasBins }: WrittenCell): void {
    let bins = '';
    let binCounts = '';
    for (const [bin, count] of hasBins ? cell.bins : []) {
      if (count === 0) continue;
      bins += `,${bin}`;
      binCounts += `,${count}`;
    }
    if (bins === '' && cell.count === 0 && cell.errors === 0 && cell.sum === 0) return;
    this.#seriesIds.push(seriesId);
    this.#buckets.push(bucket);
    this.#counts.push(cell.count);
    this.#errors.push(cell.errors);
    this.#sums.push(cell.sum);
    this.#bins.push(`{${bins.slice(1)}}`);
    this.#binCounts.push(`{${binCounts.slice(1)}}`);
  }
}

/** A cell on its way to the database. */
export interface WrittenCell {
  readonly seriesId: number;
  readonly bucket: number;
  readonly cell: Cell;
  readonly hasBins: boolean;
}
