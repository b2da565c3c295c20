import {
  groupKinds,
  metricQuantiles,
  metricsOf,
  type AggregateGroup,
  type AggregateMetrics,
} from './aggregation.ts';
import type { RangeTimes } from './answers.ts';
import { Cell } from '../series/cells.ts';
import { Histogram } from '../series/histogram.ts';
import type { Level } from '../series/series.ts';
import type { SeriesSql } from '../series/tables.ts';
import { readTimeCells, type SeriesChoice } from '../series/time-cells.ts';
import { spanOf, type TimeRange } from '../series/time-range.ts';

export interface TimelineQuery {
  readonly timeRange: TimeRange;
  readonly groupBy: AggregateGroup;
  /** The one agent, operation or status that it is about; absent: all traces. */
  readonly key?: string | undefined;
}

export interface TimelinePoint extends AggregateMetrics {
  /** ISO 8601. */
  readonly startTime: string;
}

export interface Timeline extends RangeTimes {
  /** How long the step of a point is; the last one is not over. */
  readonly stepSeconds: number;
  /** One for each step, by time. */
  readonly points: TimelinePoint[];
}

interface Step {
  readonly minutes: number;
  /** Whose cells no step cuts. */
  readonly level: Level;
}

const steps: Readonly<Record<TimeRange, Step>> = {
  '1h': { minutes: 1, level: 'minute' },
  '24h': { minutes: 60, level: 'hour' },
  '7d': { minutes: 360, level: 'hour' },
  '30d': { minutes: 1_440, level: 'day' },
};

/** Tells how a range went: the traces of each whole step that begins within it, in UTC. */
export async function readTimeline(
  sql: SeriesSql,
  { timeRange, groupBy, key }: TimelineQuery,
  nowMs: number,
): Promise<Timeline> {
  const { minutes, level } = steps[timeRange];
  const span = spanOf(timeRange, nowMs);
  const from = Math.ceil(span.from / minutes) * minutes;
  const to = Math.ceil(span.to / minutes) * minutes;
  const cells = await readTimeCells(sql, choiceOf(groupBy, key), [{ level, from, to }]);
  const merged = Array.from({ length: (to - from) / minutes }, () => new Cell());
  for (const [minute, cell] of cells) merged[Math.floor((minute - from) / minutes)]?.merge(cell);
  const points = merged.map((cell, at) => {
    const startMs = (from + at * minutes) * 60_000;
    const seconds = (Math.min(nowMs, startMs + minutes * 60_000) - startMs) / 1_000;
    return { startTime: new Date(startMs).toISOString(), ...metricsIn(cell, Math.max(1, seconds)) };
  });
  return {
    timeRange,
    startTime: new Date(from * 60_000).toISOString(),
    endTime: new Date(nowMs).toISOString(),
    stepSeconds: minutes * 60,
    points,
  };
}

function choiceOf(groupBy: AggregateGroup, key: string | undefined): SeriesChoice {
  // Each trace has one status, so those of all of them are all traces.
  return key === undefined ? { kind: 'traceStatus' } : { kind: groupKinds[groupBy], labels: [key] };
}

function metricsIn({ count, errors, sum, bins }: Cell, seconds: number): AggregateMetrics {
  const quantiles = Histogram.of([...bins]).quantiles(metricQuantiles);
  return metricsOf({ count, errors, sum, quantiles }, seconds);
}
