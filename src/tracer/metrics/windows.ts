import { Cell, usPerMinute } from '../series/cells.ts';
import type { SeriesSql } from '../series/tables.ts';
import { readTimeCells, type SeriesChoice } from '../series/time-cells.ts';
import { segmentsOf, type MinuteSpan } from '../series/time-range.ts';
import {
  microsecondsOf,
  readBinSums,
  type BinSums,
  type TraceScope,
} from '../series/trace-sums-store.ts';

/** Traces that started from a moment on. */
export interface TraceWindow extends TraceScope {
  /** Microseconds since the epoch; counts too. */
  readonly fromUs: number;
  /** The minute since the epoch before which it ends. */
  readonly to: number;
  readonly nowMs: number;
}

/** Traces of whole minutes, in steps of so many. */
export interface TraceStepQuery extends TraceScope, MinuteSpan {
  readonly stepMinutes: number;
  /** Only what started in the last so many seconds of each minute. */
  readonly tailSeconds?: number | undefined;
  readonly nowMs: number;
}

/** What traces add up to; durations in microseconds. */
export interface TraceSums {
  readonly count: number;
  readonly errors: number;
  readonly sum: number;
  readonly bins: readonly number[];
  readonly binCounts: readonly number[];
}

/** The same of a part of the span, which begins at a minute since the epoch. */
export interface TraceStep extends TraceSums {
  readonly minute: number;
}

/** In a minute with more traces those of a part of it are not counted, but taken for its share. */
const countedTracesMax = 10_000;

/**
 * Adds the traces of a window up: whole minutes by their cells, what a minute that is not wholly inside
 * has inside trace by trace, or as its share of the minute where that holds more than 10,000 traces.
 */
export async function readTraceSums(sql: SeriesSql, window: TraceWindow): Promise<TraceSums> {
  const { agent, name, fromUs, to, nowMs } = window;
  const steps = new Steps(() => 0);
  if (agent !== undefined && name !== undefined) {
    steps.addBins(await readBinSums(sql, window, { fromUs, toUs: to * usPerMinute }));
    return steps.only();
  }
  const from = Math.ceil(fromUs / usPerMinute);
  const first = from - 1;
  if (fromUs !== from * usPerMinute && first < to) {
    await addTails(sql, window, { steps, tails: tailsOf(window, first) });
  }
  // As if it were over, so that it ends with a minute and with no hour that is ahead of the clock.
  const segments = segmentsOf({ from, to }, Math.max(nowMs, (to * usPerMinute) / 1_000));
  steps.addCells(await readTimeCells(sql, seriesOf(window), segments));
  return steps.only();
}

/** The same of whole minutes or of each one's last seconds; steps without traces are left out. */
export async function readTraceSteps(sql: SeriesSql, query: TraceStepQuery): Promise<TraceStep[]> {
  const { agent, name, from, to, stepMinutes, tailSeconds, nowMs } = query;
  if (to <= from) return [];
  const steps = new Steps((minute) => Math.max(0, Math.floor((minute - from) / stepMinutes)));
  const offsetUs = tailSeconds === undefined ? 0 : usPerMinute - tailSeconds * 1_000_000;
  if (agent !== undefined && name !== undefined) {
    steps.addBins(await readBinSums(sql, query, { ...microsecondsOf(query), offsetUs }));
  } else if (offsetUs === 0) {
    const segments = segmentsOf({ from, to }, nowMs, 'fine');
    steps.addCells(await readTimeCells(sql, seriesOf(query), segments));
  } else {
    const share = (usPerMinute - offsetUs) / usPerMinute;
    await addTails(sql, query, { steps, tails: { from, to, offsetUs, share } });
  }
  return steps.all().map(([step, sums]) => ({ ...sums, minute: from + step * stepMinutes }));
}

/** What lies behind an offset in each minute of a span. */
interface Tails extends MinuteSpan {
  readonly offsetUs: number;
  /** Of what the minute holds. */
  readonly share: number;
}

/** What of a minute lies in a window that begins within it. */
function tailsOf({ fromUs, nowMs }: TraceWindow, minute: number): Tails {
  const offsetUs = fromUs - minute * usPerMinute;
  // Of a minute that is not over yet nothing is there of what is to come.
  const overUs = Math.min(usPerMinute, Math.max(nowMs * 1_000 - minute * usPerMinute, offsetUs));
  return { from: minute, to: minute + 1, offsetUs, share: (overUs - offsetUs) / overUs };
}

function isCrowded({ count }: Cell): boolean {
  return count > countedTracesMax;
}

async function addTails(
  sql: SeriesSql,
  scope: TraceScope,
  { steps, tails }: { readonly steps: Steps; readonly tails: Tails },
): Promise<void> {
  const { from, to, offsetUs, share } = tails;
  const cells = await readTimeCells(sql, seriesOf(scope), [{ level: 'minute', from, to }]);
  steps.addCells(new Map([...cells].filter(([, cell]) => isCrowded(cell))), share);
  const minutes = [...cells]
    .filter(([, cell]) => cell.count > 0 && !isCrowded(cell))
    .map(([minute]) => minute);
  if (minutes.length === 0) return;
  const { fromUs, toUs } = microsecondsOf(tails);
  const times = { fromUs: fromUs + offsetUs, toUs, offsetUs, minutes };
  steps.addBins(await readBinSums(sql, scope, times));
}

function seriesOf({ agent, name }: TraceScope): SeriesChoice {
  if (agent !== undefined) return { kind: 'traceAgent', labels: [agent] };
  if (name !== undefined) return { kind: 'traceName', labels: [name] };
  return { kind: 'traceStatus' };
}

/** A step in the making; with shares of minutes its numbers are no whole ones. */
interface OpenStep {
  readonly cell: Cell;
  /** Traces, whatever their share. */
  traces: number;
}

/** Traces added up by step. */
class Steps {
  readonly #stepOf: (minute: number) => number;
  readonly #steps = new Map<number, OpenStep>();

  constructor(stepOf: (minute: number) => number) {
    this.#stepOf = stepOf;
  }

  addCells(cells: ReadonlyMap<number, Cell>, share = 1): void {
    for (const [minute, cell] of cells) {
      const step = this.#at(minute);
      step.traces += cell.count;
      step.cell.merge(cell, share);
    }
  }

  addBins(bins: readonly BinSums[]): void {
    for (const { bucket, bin, count, errors, sum } of bins) {
      const step = this.#at(bucket);
      step.traces += count;
      step.cell.add(count, errors, sum);
      step.cell.addBin(bin, count);
    }
  }

  /** Those with traces, by time. */
  all(): (readonly [step: number, sums: TraceSums])[] {
    return [...this.#steps]
      .filter(([, { traces }]) => traces > 0)
      .toSorted(([one], [other]) => one - other)
      .map(([step, { cell }]) => [step, sumsOf(cell)] as const);
  }

  only(): TraceSums {
    return this.all()[0]?.[1] ?? { count: 0, errors: 0, sum: 0, bins: [], binCounts: [] };
  }

  #at(minute: number): OpenStep {
    const place = this.#stepOf(minute);
    const step = this.#steps.get(place) ?? { cell: new Cell(), traces: 0 };
    this.#steps.set(place, step);
    return step;
  }
}

function sumsOf({ count, errors, sum, bins }: Cell): TraceSums {
  const filled = [...bins]
    .filter(([, inBin]) => inBin > 0)
    .toSorted(([one], [other]) => one - other);
  return {
    count: Math.round(count),
    errors: Math.round(errors),
    sum,
    bins: filled.map(([bin]) => bin),
    binCounts: filled.map(([, inBin]) => inBin),
  };
}
