import { rangeOf, rounded, type RangeTimes } from './answers.ts';
import { grouped } from './grouping.ts';
import { readStats, type SeriesStats } from '../series/stats.ts';
import type { SeriesSql } from '../series/tables.ts';
import type { TimeRange } from '../series/time-range.ts';

export type UsageGroup = 'agent' | 'provider' | 'model';

/** What calls of models took. */
export interface UsageSums {
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number;
  /** Calls whose cost is known; the others add nothing to it. */
  readonly pricedCalls: number;
}

export interface ModelUsage extends RangeTimes {
  readonly groupBy: UsageGroup;
  /** The dearest first, then those with the most tokens. */
  readonly usage: (UsageSums & { readonly key: string })[];
  readonly totals: UsageSums;
}

const seriesMax = 20_000;
const microdollars = 1_000_000;
const positions: Readonly<Record<UsageGroup, number>> = { agent: 0, provider: 1, model: 2 };

/** Adds up the tokens and the money of a range by agent, provider or model. */
export async function readUsage(
  sql: SeriesSql,
  { timeRange, groupBy }: { readonly timeRange: TimeRange; readonly groupBy: UsageGroup },
  nowMs: number,
): Promise<ModelUsage> {
  const { segments, times } = rangeOf(timeRange, nowMs);
  const read = (kind: 'inputTokens' | 'outputTokens' | 'cost') =>
    readStats(sql, { kind, segments, limit: seriesMax });
  const [inputs, outputs, costs] = await Promise.all([
    read('inputTokens'),
    read('outputTokens'),
    read('cost'),
  ]);
  const keyOf = ({ labels }: SeriesStats) => labels[positions[groupBy]] ?? '';
  const byKey = (rows: readonly SeriesStats[]) => grouped(rows, keyOf);
  const [input, output, cost] = [byKey(inputs), byKey(outputs), byKey(costs)];
  const usage = [...input]
    .map(([key, rows]) => ({
      key,
      ...sumsOf({ inputs: rows, outputs: output.get(key) ?? [], costs: cost.get(key) ?? [] }),
    }))
    .toSorted((a, b) => b.costUsd - a.costUsd || tokensOf(b) - tokensOf(a));
  return { ...times, groupBy, usage, totals: sumsOf({ inputs, outputs, costs }) };
}

interface UsageRows {
  readonly inputs: readonly SeriesStats[];
  readonly outputs: readonly SeriesStats[];
  readonly costs: readonly SeriesStats[];
}

function sumsOf({ inputs, outputs, costs }: UsageRows): UsageSums {
  return {
    calls: add(inputs, 'count'),
    inputTokens: Math.round(add(inputs, 'sum')),
    outputTokens: Math.round(add(outputs, 'sum')),
    costUsd: rounded(add(costs, 'sum') / microdollars),
    pricedCalls: add(costs, 'count'),
  };
}

function add(rows: readonly SeriesStats[], column: 'count' | 'sum'): number {
  return rows.reduce((sum, row) => sum + row[column], 0);
}

function tokensOf({ inputTokens, outputTokens }: UsageSums): number {
  return inputTokens + outputTokens;
}
