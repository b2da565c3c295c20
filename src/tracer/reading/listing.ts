import type { Database } from '../../kit/database/database.ts';
import { readTime, type DayEdge } from '../../kit/time/time-text.ts';
import type { ListQuery, TraceSummaryAnswer } from '../schemas/traces.ts';
import type { TraceError, TraceStatus } from '../trace/analysis.ts';
import { dayOf } from '../intake/days.ts';
import type { OpenQuery, OpenTraces } from '../intake/open-listing.ts';
import { unpackTags } from '../trace/tags.ts';
import { countEveryFailed, countEveryTrace, countTraces, isEveryTrace } from './count-store.ts';
import type { ShownFrom, TraceFilter } from './list-sql.ts';
import { findTraceIds, listMatches, listTraces, type ListedRow, type Page } from './list-store.ts';

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
   * Open traces that no row tells of, and whether rows tell of others. What it answers goes with what the database answers to statements that
   * are sent at once.
   */
  readonly listOpen: (query: OpenQuery) => Promise<OpenTraces>;
}

interface Question extends Page {
  readonly database: Database;
  readonly filter: TraceFilter;
  readonly open: OpenTraces;
}

/** A page of traces. */
export async function listing({ database, listOpen }: ListSource, query: ListQuery, nowMs: number) {
  const filter = filterOf(query, nowMs);
  const { limit = pageSizeDefault } = query;
  const offset = query.offset ?? ((query.page ?? 1) - 1) * limit;
  const open = await listOpen({ filter, limit: limit + offset });
  const question = { database, filter, open, limit, offset };
  const answer = query.status === 'error' ? await listErrors(question) : await listAny(question);
  const { rows, isCapped, ...counted } = answer;
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
  const { rows: openRows, hasRows: hasOpenRows } = await listOpen({ filter, limit });
  return findTraceIds(database, { filter, openRows, hasOpenRows, limit });
}

interface Total {
  readonly total: number;
  readonly isCapped: boolean;
}

interface Found extends Total {
  readonly rows: readonly ListedRow[];
}

function totalOf(total: number): Total {
  return { total: Math.min(total, countMax), isCapped: total > countMax };
}

/** All together are counted as they come. */
async function listAny(question: Question): Promise<Found> {
  const { database, filter, open } = question;
  if (isEveryTrace(filter)) {
    const counted = { filter, hasOpenRows: open.hasRows };
    const [rows, stored] = await Promise.all([
      pageOf(question),
      countEveryTrace(database, counted),
    ]);
    return { rows, total: stored + open.total, isCapped: false };
  }
  const found = await matchesOf(question, filter);
  return { rows: found.rows, ...totalOf(found.total + open.total) };
}

/**
 * Errors, and the share that failed of the traces that match but for their status: of all where nothing
 * else is asked for, else of the newest 10,000 at most.
 */
async function listErrors(question: Question): Promise<Found & { readonly errorRate: number }> {
  const { open } = question;
  const { rows, total, failed, errors } = await findErrors(question);
  const all = total + open.ofAnyStatus.total;
  const errorRate = all === 0 ? 0 : (failed + open.ofAnyStatus.failed) / all;
  return { rows, ...totalOf(errors + open.total), errorRate };
}

/** A page of the errors, with how many of what is stored there are. */
async function findErrors(question: Question) {
  const { database, filter, open } = question;
  const counted = { filter, hasOpenRows: open.hasRows };
  const ofAnyStatus = { ...filter, status: undefined };
  if (isEveryTrace(ofAnyStatus)) {
    const [rows, total, failures] = await Promise.all([
      pageOf(question),
      countEveryTrace(database, counted),
      countEveryFailed(database, counted),
    ]);
    return { rows, total, ...failures };
  }
  const found = await matchesOf(question, ofAnyStatus);
  if (found.total <= countMax) return found;
  // There may be more among those that are not the newest.
  const { total: errors } = await countTraces(database, counted, countMax);
  return { ...found, errors };
}

function pageOf({ database, filter, open, limit, offset }: Question): Promise<ListedRow[]> {
  const { rows: openRows, hasRows: hasOpenRows } = open;
  return listTraces(database, { filter, openRows, hasOpenRows, limit, offset });
}

/** The page, and how many there are of what is to be counted, which may be of any status. */
async function matchesOf(question: Question, counted: TraceFilter) {
  const { database, filter, open, limit, offset } = question;
  const found = await listMatches(database, {
    filter: counted,
    openRows: open.rows,
    hasOpenRows: open.hasRows,
    limit,
    offset,
    pageStatus: counted === filter ? undefined : filter.status,
    countMax,
  });
  // Some of the page may lie beyond those that were counted.
  const last = found.rows[limit - 1];
  const isWhole = found.total <= countMax || (last && last.start_us >= (found.oldest_us ?? 0));
  return isWhole ? found : { ...found, rows: await pageOf(question) };
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
