import type { OperationWindow } from '../explain/window.ts';
import { baselineKey, type BaselineTable } from '../intake/baseline-table.ts';
import type { Baseline, Quartiles } from '../trace/analysis.ts';
import { seriesIdOf } from './series-id.ts';
import { kindOfLabel, operationLabels, type Operation } from './operation.ts';
import { readStats, type SeriesSql, type SeriesStats } from './stats-store.ts';
import { segmentsOf, timeRanges, type MinuteSpan } from './time-range.ts';

const spansMin = 30;
const operationsMax = 5_000;
const windowsMax = 10_000;
const quartiles = [0.25, 0.5, 0.75];

/**
 * The histories of operations, of those given or of the 5,000 busiest of the last day: of that day,
 * else of the last week; an operation with fewer than thirty spans has none.
 */
export async function readBaselines(
  sql: SeriesSql,
  nowMs: number,
  operations?: readonly Operation[],
): Promise<BaselineTable> {
  const { table, few } = await baselinesOf(sql, { nowMs, range: '24h', operations });
  const others = operations?.filter((one) => !table.has(baselineKey(one))) ?? few;
  const older = await baselinesOf(sql, { nowMs, range: '7d', operations: others });
  for (const [key, baseline] of older.table) table.set(key, baseline);
  return table;
}

interface BaselineQuery {
  readonly nowMs: number;
  readonly range: '24h' | '7d';
  readonly operations: readonly Operation[] | undefined;
}

interface FoundBaselines {
  readonly table: Map<string, Baseline>;
  /** Operations of which there are too few spans. */
  readonly few: readonly Operation[];
}

async function baselinesOf(
  sql: SeriesSql,
  { nowMs, range, operations }: BaselineQuery,
): Promise<FoundBaselines> {
  if (operations?.length === 0) return { table: new Map(), few: [] };
  const to = Math.floor(nowMs / 60_000) + 1;
  // From a whole hour on: minutes have no histogram of self times.
  const from = Math.floor((to - timeRanges[range]) / 60) * 60;
  const segments = segmentsOf({ from, to }, nowMs);
  const read = (kind: 'operation' | 'self') => {
    const ids = operations?.map((one) => seriesIdOf(kind, operationLabels(one)));
    const query = { kind, segments, quantiles: quartiles, limit: operationsMax };
    return readStats(sql, ids === undefined ? query : { ...query, ids });
  };
  const [durations, selves] = await Promise.all([read('operation'), read('self')]);
  const selfOf = new Map(selves.map((row) => [baselineKey(operationOf(row)), row]));
  const table = new Map<string, Baseline>();
  const few: Operation[] = [];
  for (const row of durations) {
    const operation = operationOf(row);
    const key = baselineKey(operation);
    const self = selfOf.get(key);
    if (row.count < spansMin) few.push(operation);
    else if (self) table.set(key, { duration: quartilesOf(row), self: quartilesOf(self) });
  }
  return { table, few };
}

function quartilesOf({ count, quantiles }: SeriesStats): Quartiles {
  const [p25Us = 0, p50Us = 0, p75Us = 0] = quantiles;
  return { count, p25Us, p50Us, p75Us };
}

function operationOf({ labels }: SeriesStats): Operation {
  const [service = '', name = '', kind = ''] = labels;
  return { service, name, kind: kindOfLabel(kind) };
}

/**
 * What each operation did within a range, in microseconds since the epoch; its ends are rounded
 * outwards to minutes, or where those are not kept any more to hours or days.
 */
export async function readWindows(
  sql: SeriesSql,
  { fromUs, toUs }: { readonly fromUs: number; readonly toUs: number },
  nowMs: number,
): Promise<OperationWindow[]> {
  const span: MinuteSpan = {
    from: Math.floor(fromUs / 60_000_000),
    to: Math.ceil(toUs / 60_000_000),
  };
  const segments = segmentsOf(span, nowMs);
  const limit = windowsMax;
  const [durations, selves] = await Promise.all([
    readStats(sql, { kind: 'operation', segments, quantiles: [0.5, 0.95], limit }),
    readStats(sql, { kind: 'self', segments, limit }),
  ]);
  const selfSums = new Map(selves.map((row) => [baselineKey(operationOf(row)), row.sum]));
  return durations.map((row) => {
    const operation = operationOf(row);
    const { count, errors, sum, quantiles } = row;
    const [p50Us = 0, p95Us = 0] = quantiles;
    const selfSumUs = selfSums.get(baselineKey(operation)) ?? 0;
    return { ...operation, count, errors, p50Us, p95Us, sumUs: sum, selfSumUs };
  });
}
