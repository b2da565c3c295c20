import type { Database } from '../../kit/database/database.ts';
import { isDivisionByZero } from '../series/block-store.ts';
import type { StatementParts } from '../series/series-store.ts';
import { chunkParameters, storedChunks } from './chunk-store.ts';
import { selectColumns } from '../../kit/database/row-columns.ts';
import { completeColumns, completeNames, openNames, openTypes } from './trace-rows.ts';
import type { Completion, LoadedTrace, Write, WrittenRevision } from './writes.ts';

/** A row that knows a root is not renamed by spans that do not. */
function unlessKnown(column: string): string {
  return `${column} = case when excluded.is_partial and not t.is_partial
    then t.${column} else excluded.${column} end`;
}

/** How an open row takes what another write says of its trace. */
export const updateOpen = `
  on conflict (trace_id) do update set
    start_us = least(t.start_us, excluded.start_us),
    end_us = greatest(t.end_us, excluded.end_us),
    ${unlessKnown('name')}, ${unlessKnown('service')}, ${unlessKnown('agent')},
    tags = case when excluded.is_partial and not t.is_partial
      then t.tags else coalesce(excluded.tags, t.tags) end,
    agents = case when t.agents @> excluded.agents then t.agents
      else array(select distinct unnest(t.agents || excluded.agents)) end,
    terms = case when t.terms @> excluded.terms then t.terms
      else array(select distinct unnest(t.terms || excluded.terms)) end,
    -- One process mostly knows all of a trace, and then its word is the better one.
    status = case when excluded.status > 0 then excluded.status else t.status end,
    error = coalesce(excluded.error, t.error),
    span_count = t.span_count + excluded.span_count,
    error_count = t.error_count + excluded.error_count,
    is_partial = t.is_partial and excluded.is_partial,
    chunks = t.chunks || excluded.chunks,
    touched_at = clock_timestamp(),
    holder = excluded.holder,
    revision = t.revision + 1`;

const writeText = `
  with ${storedChunks}
  insert into tracer.open_trace as t (${openNames}, chunks, holder)
  select ${openNames}, array(select id from piece where number = any (r.of_chunks) order by number),
    $5::uuid
  from json_to_recordset($4::json) as r(${openTypes}, of_chunks integer[])
  ${updateOpen}
  returning trace_id, revision, t.revision = 1 and exists (
    select from tracer.trace c
    where c.trace_id = t.trace_id and c.day between t.day - 1 and t.day) as is_late`;

export interface WrittenRow {
  readonly trace_id: string;
  readonly revision: number;
  readonly is_late: boolean;
}

export interface SpansWrite extends Pick<Write, 'day' | 'body' | 'chunks'> {
  /** JSON array of `OpenRow`s, each with the places of its chunks among these, from 1 on. */
  readonly rows: string;
  /** The process that has their traces in its memory. */
  readonly holder: string;
}

/** Stores new spans with what they say of their traces; answers the rows' revisions. */
export async function writeSpans(
  database: Database,
  { rows, holder, ...write }: SpansWrite,
): Promise<WrittenRevision[]> {
  const parameters = [...chunkParameters(write), rows, holder];
  const written = await database.query<WrittenRow>(writeText, parameters);
  return written.map(toWritten);
}

/** What a statement answers of an open row that it wrote. */
export function toWritten(row: WrittenRow): WrittenRevision {
  return { traceId: fromUuid(row.trace_id), revision: row.revision, isLate: row.is_late };
}

/** The first parameter of what a completion is given beside its rows. */
export const firstPartParameter = 3;

/**
 * Moves open traces to the complete ones and adds what the parts say, in one statement. All rows are
 * moved, or nothing is done and the answer is false: some changed since they were read.
 */
export async function completeTraces(
  database: Database,
  { columns, count, paidChunks }: Pick<Completion, 'columns' | 'count' | 'paidChunks'>,
  parts: StatementParts = { ctes: [], parameters: [] },
): Promise<boolean> {
  const parameters = [count, paidChunks, ...parts.parameters];
  const text = `
    with given as materialized (
      ${selectColumns(completeColumns, parameters.length + 1)}),
    closed as (
      delete from tracer.open_trace o using given g
      where o.trace_id = g.trace_id and o.revision = g.known_revision
      returning o.trace_id, o.chunks),
    paid as (delete from tracer.open_chunk where id = any($2::bigint[])),
    completed as (
      insert into tracer.trace as t (${completeNames.join(', ')}, completions, chunks)
      select ${completeNames.map((name) => `g.${name}`).join(', ')}, g.known_completions + 1,
        coalesce(c.chunks, '{}') || g.chunks
      from given g left join closed c on c.trace_id = g.trace_id
      -- A trace without an open row has none, and one with a row that one.
      where case when g.known_revision > 0 then c.trace_id is not null
        else not exists (select from tracer.open_trace o where o.trace_id = g.trace_id) end
      on conflict (trace_id, day) do update set
        ${completeNames.map((name) => `${name} = excluded.${name}`).join(', ')}, completions = excluded.completions, chunks = t.chunks || excluded.chunks
      where t.completions = excluded.completions - 1
      returning 1),
    totals as (
      insert into tracer.day_total as t (day, traces, spans)
      select day, count(*) filter (where known_completions = 0), sum(span_count - known_spans)
      from given group by day order by day
      on conflict (day) do update set
        traces = t.traces + excluded.traces, spans = t.spans + excluded.spans)
    ${parts.ctes.map((cte) => `, ${cte}`).join('')}
    select 1 / (case when count(*) = $1::integer then 1 else 0 end) as checked from completed`;
  try {
    await database.query(text, [...parameters, ...columns]);
    return true;
  } catch (error) {
    if (isDivisionByZero(error)) return false;
    throw error;
  }
}

/** Whether a row has no partition: the clock has jumped, or its day is over. SQLSTATE 23514. */
export function lacksPartition(error: unknown): boolean {
  return error instanceof Error && (error as { code?: unknown }).code === '23514';
}

/** Forgets open traces, with what came of them since they were last complete. */
export async function deleteOpenTraces(
  database: Database,
  traceIds: readonly string[],
): Promise<void> {
  await database.query('delete from tracer.open_trace where trace_id = any($1::uuid[])', [
    traceIds,
  ]);
}

interface StoredRow {
  readonly trace_id: string;
  readonly day: number;
  readonly received_at: number;
  readonly chunks: number[];
  readonly counted: number[] | null;
  readonly completions: number | null;
  readonly revision: number;
}

const loadedColumns = `o.trace_id, coalesce(t.day, o.day) as day, o.received_at, o.chunks,
  t.chunks as counted, t.completions, o.revision`;

/** Open traces as the database knows them; what is not answered is not open any more. */
export async function loadOpenTraces(
  database: Database,
  traceIds: readonly string[],
): Promise<LoadedTrace[]> {
  const rows = await database.query<StoredRow>(
    `select ${loadedColumns} from tracer.open_trace o
     left join lateral (
       select * from tracer.trace t where t.trace_id = o.trace_id order by t.day desc limit 1
     ) t on true
     where o.trace_id = any($1::uuid[])`,
    [traceIds],
  );
  return rows.map(loadedTrace);
}

/** Where a search for open traces goes on. */
export interface OpenPlace {
  readonly receivedAt: number;
  readonly traceId: string;
}

/** Open traces that nobody has added to for a while, the oldest first, from behind a place on. */
export async function findForsaken(
  database: Database,
  { untouchedMs, after, limit }: ForsakenQuery,
): Promise<OpenPlace[]> {
  const rows = await database.query<{ trace_id: string; received_at: number }>(
    `select trace_id, received_at from tracer.open_trace
     where touched_at <= clock_timestamp() - make_interval(secs => $1::float8 / 1000)
       and (received_at, trace_id) > ($2::bigint, $3::uuid)
     order by received_at, trace_id limit $4`,
    [untouchedMs, after.receivedAt, after.traceId, limit],
  );
  return rows.map((row) => ({ receivedAt: row.received_at, traceId: fromUuid(row.trace_id) }));
}

export interface ForsakenQuery {
  readonly untouchedMs: number;
  readonly after: OpenPlace;
  readonly limit: number;
}

/** Which of these traces were complete before, on any day that is kept. */
export async function findCompleted(
  database: Database,
  traceIds: readonly string[],
): Promise<Set<string>> {
  const rows = await database.query<{ trace_id: string }>(
    'select distinct trace_id from tracer.trace where trace_id = any($1::uuid[])',
    [traceIds],
  );
  return new Set(rows.map(({ trace_id: id }) => fromUuid(id)));
}

function loadedTrace(row: StoredRow): LoadedTrace {
  const counted = row.counted ?? [];
  return {
    traceId: fromUuid(row.trace_id),
    day: row.day,
    receivedAt: row.received_at,
    revision: row.revision,
    completions: row.completions ?? 0,
    chunks: [...counted, ...row.chunks],
    countedChunks: counted.length,
  };
}

/** The id of a trace as everybody else writes it: 32 hex digits. */
export function fromUuid(uuid: string): string {
  return uuid.replaceAll('-', '');
}
