import type { MeasuredRange, TimeRange } from '../explain/window-answer.ts';
import type { OperationWindow } from '../explain/window.ts';
import { baselineKey, type BaselineTable } from '../intake/baseline-table.ts';
import type { Baseline, Quartiles } from '../trace/analysis.ts';
import { usPerMinute } from '../series/cells.ts';
import { seriesIdOf } from '../series/series-id.ts';
import { kindOfLabel, operationLabels, type Operation } from '../series/operation.ts';
import { readStats, type SeriesStats } from '../series/stats.ts';
import type { SeriesSql } from '../series/tables.ts';
import { coveredBy, minutesOf, segmentsOf, timeRanges } from '../series/time-range.ts';

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
 * What each operation did within a range. It is told of as counted: its ends are rounded outwards to
 * minutes, or where those are not kept any more to hours or days, and nothing of it lies before cells
 * are kept.
 */
export async function readWindows(
  sql: SeriesSql,
  asked: TimeRange,
  nowMs: number,
): Promise<MeasuredRange> {
  const span = minutesOf(asked);
  const segments = segmentsOf(span, nowMs);
  const limit = windowsMax;
  const [durations, selves] = await Promise.all([
    readStats(sql, { kind: 'operation', segments, quantiles: [0.5, 0.95], limit }),
    readStats(sql, { kind: 'self', segments, limit }),
  ]);
  const selfSums = new Map(selves.map((row) => [baselineKey(operationOf(row)), row.sum]));
  const operations = durations.map((row): OperationWindow => {
    const operation = operationOf(row);
    const { count, errors, sum, quantiles } = row;
    const [p50Us = 0, p95Us = 0] = quantiles;
    const selfSumUs = selfSums.get(baselineKey(operation)) ?? 0;
    return { ...operation, count, errors, p50Us, p95Us, sumUs: sum, selfSumUs };
  });
  const { from, to } = coveredBy(segments, span);
  // Of a cell that is not over there is what came until now.
  const endUs = Math.min(to * usPerMinute, Math.max(asked.toUs, nowMs * 1_000));
  return { range: { fromUs: from * usPerMinute, toUs: endUs }, operations };
}
