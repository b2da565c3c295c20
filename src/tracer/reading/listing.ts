import type { Database } from '../../kit/database/database.ts';
import { readTime, type DayEdge } from '../../kit/time/time-text.ts';
import type { ListQuery, TraceSummaryAnswer } from '../schemas/traces.ts';
import type { TraceError, TraceStatus } from '../trace/analysis.ts';
import { dayOf } from '../intake/days.ts';
import type { OpenListing, OpenQuery } from '../intake/open-listing.ts';
import { unpackTags } from '../trace/tags.ts';
import {
  countEveryFailed,
  countEveryTrace,
  countTraces,
  findTraceIds,
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

/** Where traces are listed from. */
export interface ListSource {
  readonly database: Database;
  /**
   * Open traces that no row tells of. What it answers goes with what the database answers to statements that
   * are sent at once.
   */
  readonly listOpen: (query: OpenQuery) => Promise<OpenListing>;
}

interface Question {
  readonly database: Database;
  readonly filter: TraceFilter;
  readonly open: OpenListing;
}

/** A page of traces. */
export async function listing({ database, listOpen }: ListSource, query: ListQuery, nowMs: number) {
  const filter = filterOf(query, nowMs);
  const { limit = pageSizeDefault } = query;
  const offset = query.offset ?? ((query.page ?? 1) - 1) * limit;
  const open = await listOpen({ filter, limit: limit + offset });
  const question = { database, filter, open };
  const [rows, { isCapped, ...counted }] = await Promise.all([
    listTraces(database, { filter, openRows: open.rows, limit, offset }),
    query.status === 'error' ? countErrors(question) : countMatches(question),
  ]);
  return {
    traces: rows.map(describe),
    ...counted,
    ...(isCapped ? { isTotalCapped: true } : {}),
    page: Math.floor(offset / limit) + 1,
    pageSize: limit,
  };
}

/** Ids of the traces that match, the newest first. */
export async function findIds(
  { database, listOpen }: ListSource,
  filter: TraceFilter,
  limit: number,
): Promise<string[]> {
  const { rows: openRows } = await listOpen({ filter, limit });
  return findTraceIds(database, { filter, openRows, limit });
}

interface Total {
  readonly total: number;
  readonly isCapped: boolean;
}

function totalOf(total: number): Total {
  return { total: Math.min(total, countMax), isCapped: total > countMax };
}

/** How many traces match; all together are counted as they come. */
async function countMatches({ database, filter, open }: Question): Promise<Total> {
  if (isEveryTrace(filter)) {
    const stored = await countEveryTrace(database, filter);
    return { total: stored + open.total, isCapped: false };
  }
  const { total } = await countTraces(database, filter, countMax);
  return totalOf(total + open.total);
}

/**
 * How many errors match, and the share that failed of the traces that match but for their status: of all
 * where nothing else is asked for, else of the newest 10,000 at most.
 */
async function countErrors(question: Question): Promise<Total & { readonly errorRate: number }> {
  const { open } = question;
  const { total, failed, errors } = await countFailures(question);
  const all = total + open.ofAnyStatus.total;
  const errorRate = all === 0 ? 0 : (failed + open.ofAnyStatus.failed) / all;
  return { ...totalOf(errors + open.total), errorRate };
}

/** Of what is stored, with as many errors as match. */
async function countFailures({ database, filter }: Question) {
  const ofAnyStatus = { ...filter, status: undefined };
  if (isEveryTrace(ofAnyStatus)) {
    const [total, failures] = await Promise.all([
      countEveryTrace(database, filter),
      countEveryFailed(database, filter),
    ]);
    return { total, ...failures };
  }
  const counted = await countTraces(database, ofAnyStatus, countMax);
  if (counted.total <= countMax) return counted;
  // There may be more among those that are not the newest.
  const { total: errors } = await countTraces(database, filter, countMax);
  return { ...counted, errors };
}

function filterOf(query: ListQuery, nowMs: number): TraceFilter {
  const { agentId, name, service, status } = query;
  return {
    ...shownFrom(nowMs),
    agentId,
    name,
    service,
    status: status && statuses.indexOf(status),
    fromUs: microseconds(query.startTime, 'startTime', 'start'),
    toUs: microseconds(query.endTime, 'endTime', 'end'),
    minDurationUs: query.minDuration === undefined ? undefined : query.minDuration * 1_000,
    maxDurationUs: query.maxDuration === undefined ? undefined : query.maxDuration * 1_000,
  };
}

function microseconds(time: string | undefined, param: string, edge: DayEdge): number | undefined {
  return time === undefined ? undefined : readTime(time, param, edge) * 1_000;
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
