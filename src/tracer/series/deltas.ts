import {
  aheadMinutesMax,
  cellMinutes,
  CellWriter,
  keptMinutes,
  rollUp,
  usPerMinute,
  type Cell,
} from './cells.ts';
import { binOf } from './histogram.ts';
import { SeriesIndex, type OpenSeries } from './series-index.ts';
import type { Additions, Level, Sample, SeriesKind } from './series.ts';

export interface DeltasOptions {
  /** Microseconds since the epoch. */
  readonly nowUs: () => number;
  /** Series of one kind, 20,000 by default; further ones count under `(other)`. */
  readonly seriesMax?: number;
}

const seriesMaxDefault = 20_000;
const levels: readonly Level[] = ['minute', 'hour', 'day'];

/**
 * Gathers samples by series and cell until they are taken out. What is older than a level keeps is
 * left out there, and so is what lies more than a day ahead of the clock.
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
      cell.count += sign;
      if (sample.isError) cell.errors += sign;
      cell.sum += sign * sample.amount;
      if (!sample.isDuration) continue;
      const bin = binOf(sample.amount);
      cell.bins.set(bin, (cell.bins.get(bin) ?? 0) + sign);
    }
  }

  /**
   * Takes everything out. It must reach the database: what it says of the labels of new series is said
   * once a day only.
   */
  drain(): Additions {
    const writers = { minute: new CellWriter(), hour: new CellWriter(), day: new CellWriter() };
    const ids: number[] = [];
    const kinds: SeriesKind[] = [];
    const labels: string[] = [];
    const nowMinute = Math.floor(this.#nowUs() / usPerMinute);
    for (const series of this.#touched) {
      if (series.isNew) {
        ids.push(series.id);
        kinds.push(series.kind);
        labels.push(JSON.stringify(series.labels));
      }
      for (const level of levels) {
        const from = nowMinute - keptMinutes[level];
        for (const [bucket, cell] of cellsOf(series, level)) {
          if (bucket < from || bucket > nowMinute + aheadMinutesMax) continue;
          writers[level].write({
            seriesId: series.id,
            bucket,
            cell,
            hasBins: level !== 'minute' || series.kind !== 'self',
          });
        }
      }
      series.clear();
    }
    this.#touched.length = 0;
    this.#cellCount = 0;
    this.#forgetDaily();
    const { minute, hour, day } = writers;
    return {
      series: { ids, kinds, labels },
      cells: { minute: minute.columns, hour: hour.columns, day: day.columns },
    };
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

function cellsOf({ cells }: OpenSeries, level: Level): ReadonlyMap<number, Cell> {
  return level === 'minute' ? cells : rollUp(cells, cellMinutes[level]);
}
