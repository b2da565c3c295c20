import { CellLogWriter } from './cell-log.ts';
import { aheadMinutesMax, cellMinutes, keptMinutes, usPerMinute, type Cell } from './cells.ts';
import { binOf } from './histogram.ts';
import { SeriesIndex, type OpenSeries } from './series-index.ts';
import type { Additions, Sample, SeriesKind } from './series.ts';

export interface DeltasOptions {
  /** Microseconds since the epoch. */
  readonly nowUs: () => number;
  /** Series of one kind, 20,000 by default; further ones count under `(other)`. */
  readonly seriesMax?: number;
}

const seriesMaxDefault = 20_000;

/**
 * Gathers samples by series and minute until they are taken out. What is older than any cell is kept is
 * left out, and so is what lies more than a day ahead of the clock.
 */
export class Deltas {
  readonly #nowUs: () => number;
  readonly #seriesMax: number;
  #index: SeriesIndex;
  #indexDay: number;
  readonly #touched: OpenSeries[] = [];
  #cellCount = 0;

  constructor({ nowUs, seriesMax = seriesMaxDefault }: DeltasOptions) {
    this.#nowUs = nowUs;
    this.#seriesMax = seriesMax;
    this.#index = new SeriesIndex(seriesMax);
    this.#indexDay = this.#day();
  }

  /** Cells of minutes that something was added to. */
  get cellCount(): number {
    return this.#cellCount;
  }

  get isEmpty(): boolean {
    return this.#touched.length === 0;
  }

  /** Adds samples, or with -1 takes back what was added before. */
  add(samples: readonly Sample[], sign: 1 | -1): void {
    for (const sample of samples) {
      const series = this.#index.of(sample);
      if (series.cells.size === 0) this.#touched.push(series);
      const known = series.cells.size;
      const cell = series.cellAt(Math.floor(sample.atUs / usPerMinute));
      this.#cellCount += series.cells.size - known;
      cell.add(sign, sample.isError ? sign : 0, sign * sample.amount);
      if (!sample.isDuration) continue;
      cell.addBin(binOf(sample.amount), sign);
    }
  }

  /**
   * Takes everything out. It must reach the database: what it says of the labels of new series is said
   * once a day only.
   */
  drain(): Additions {
    const ids: number[] = [];
    const kinds: SeriesKind[] = [];
    const labels: string[] = [];
    const cells = new MinuteCells(Math.floor(this.#nowUs() / usPerMinute));
    for (const series of this.#touched) {
      if (series.isNew) {
        ids.push(series.id);
        kinds.push(series.kind);
        labels.push(JSON.stringify(series.labels));
      }
      cells.add(series);
      series.clear();
    }
    this.#touched.length = 0;
    this.#cellCount = 0;
    this.#forgetDaily();
    return { series: { ids, kinds, labels }, cells: cells.pack() };
  }

  /** So that names of the past make room, and labels that the database lost are told again. */
  #forgetDaily(): void {
    const today = this.#day();
    if (today === this.#indexDay) return;
    this.#index = new SeriesIndex(this.#seriesMax);
    this.#indexDay = today;
  }

  #day(): number {
    return Math.floor(this.#nowUs() / usPerMinute / cellMinutes.day);
  }
}

/** Cells of minutes by kind and minute, as the log has them. */
class MinuteCells {
  readonly #from: number;
  readonly #until: number;
  readonly #kinds = new Map<SeriesKind, Map<number, Map<number, Cell>>>();

  constructor(nowMinute: number) {
    this.#from = nowMinute - keptMinutes.day;
    this.#until = nowMinute + aheadMinutesMax;
  }

  add({ id, kind, cells }: OpenSeries): void {
    const minutes = this.#kinds.get(kind) ?? new Map<number, Map<number, Cell>>();
    this.#kinds.set(kind, minutes);
    for (const [minute, cell] of cells) {
      if (minute < this.#from || minute > this.#until) continue;
      const known = minutes.get(minute);
      if (known) known.set(id, cell);
      else minutes.set(minute, new Map([[id, cell]]));
    }
  }

  pack(): Uint8Array {
    const writer = new CellLogWriter();
    for (const [kind, minutes] of this.#kinds) {
      for (const [minute, cells] of minutes) writer.write(kind, minute, cells);
    }
    return writer.finish();
  }
}
