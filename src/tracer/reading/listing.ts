import type { Database } from '../../kit/database/database.ts';
import { readTime } from '../../kit/time-text.ts';
import type { ListQuery, TraceSummaryAnswer } from '../schemas/traces.ts';
import type { TraceError, TraceStatus } from '../trace/analysis.ts';
import { dayOf } from '../intake/days.ts';
import { unpackTags } from '../trace/tags.ts';
import {
  countEveryFailed,
  countEveryTrace,
  countTraces,
  isEveryTrace,
  listTraces,
  type ListedRow,
  type ShownFrom,
  type TraceFilter,
} from './list-store.ts';

/** How rows number what became of a trace. */
export const statuses: readonly TraceStatus[] = ['success', 'error', 'timeout'];

/** Raw traces are kept for seven days. */
const keptMs = 7 * 86_400_000;

const pageSizeDefault = 100;

/** From when on traces are shown at a time. */
export function shownFrom(nowMs: number): ShownFrom {
  const receivedAfterMs = nowMs - keptMs;
  return { receivedAfterMs, oldestDay: dayOf(receivedAfterMs) };
}

/** Matches are counted exactly up to here; to count more would keep others waiting. */
const countMax = 10_000;

/** A page of traces. */
export async function listing(database: Database, query: ListQuery, nowMs: number) {
  const filter = filterOf(query, nowMs);
  const { limit = pageSizeDefault } = query;
  const offset = query.offset ?? ((query.page ?? 1) - 1) * limit;
  const [rows, { total, isCapped }, rate] = await Promise.all([
    listTraces(database, filter, { limit, offset }),
    totalOf(database, filter),
    query.status === 'error' ? errorRateOf(database, filter) : undefined,
  ]);
  return {
    traces: rows.map(describe),
    total,
    ...(isCapped ? { isTotalCapped: true } : {}),
    page: Math.floor(offset / limit) + 1,
    pageSize: limit,
    ...(rate === undefined ? {} : { errorRate: rate }),
  };
}

/** How many traces match; all together are counted as they come. */
async function totalOf(
  database: Database,
  filter: TraceFilter,
): Promise<{ readonly total: number; readonly isCapped: boolean }> {
  if (isEveryTrace(filter)) {
    return { total: await countEveryTrace(database, filter), isCapped: false };
  }
  const { total } = await countTraces(database, filter, countMax);
  return { total: Math.min(total, countMax), isCapped: total > countMax };
}

/**
 * The share that failed of the traces that match but for their status: of all where nothing else is asked
 * for, else of the newest 10,000 at most.
 */
async function errorRateOf(database: Database, filter: TraceFilter): Promise<number> {
  const { total, failed } = await failuresOf(database, { ...filter, status: undefined });
  return total === 0 ? 0 : failed / total;
}

async function failuresOf(database: Database, filter: TraceFilter) {
  if (!isEveryTrace(filter)) return countTraces(database, filter, countMax);
  const [total, failed] = await Promise.all([
    countEveryTrace(database, filter),
    countEveryFailed(database, filter),
  ]);
  return { total, failed };
}

function filterOf(query: ListQuery, nowMs: number): TraceFilter {
  const { agentId, name, service, status } = query;
  return {
    ...shownFrom(nowMs),
    agentId,
    name,
    service,
    status: status && statuses.indexOf(status),
    fromUs: microseconds(query.startTime, 'startTime'),
    toUs: microseconds(query.endTime, 'endTime'),
    minDurationUs: query.minDuration === undefined ? undefined : query.minDuration * 1_000,
    maxDurationUs: query.maxDuration === undefined ? undefined : query.maxDuration * 1_000,
  };
}

function microseconds(time: string | undefined, param: string): number | undefined {
  return time === undefined ? undefined : readTime(time, param) * 1_000;
}

function describe(row: ListedRow): TraceSummaryAnswer {
  return {
    traceId: row.trace_id.replaceAll('-', ''),
    name: row.name,
    startTime: timeOf(row.start_us),
    endTime: timeOf(row.end_us),
    duration: Math.round((row.end_us - row.start_us) / 1_000),
    status: statuses[row.status] ?? 'error',
    spans: row.span_count,
    agents: row.agents,
    service: row.service,
    tags: unpackTags(row.tags),
    isComplete: row.is_complete,
    ...(row.error === null ? {} : { error: JSON.parse(row.error) as TraceError }),
    ...(row.bottlenecks === null ? {} : { bottlenecks: row.bottlenecks }),
    ...(row.input_tokens === null ? {} : { genAi: spendOf(row) }),
  };
}

function spendOf(row: ListedRow) {
  return {
    inputTokens: row.input_tokens ?? 0,
    outputTokens: row.output_tokens ?? 0,
    costUsd: row.cost_usd ?? 0,
  };
}

function timeOf(us: number): string {
  return new Date(Math.floor(us / 1_000)).toISOString();
}
