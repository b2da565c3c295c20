import type { Database } from '../../kit/database/database.ts';
import { asBuffer } from '../bytes.ts';
import { chunksPerDay } from './days.ts';
import type { OpenRows } from './messages.ts';
import type { Write, WrittenRevision } from './writes.ts';
import { fromUuid, openNames, openTypes, toWritten, updateOpen } from './trace-store.ts';

/** A chunk that was stored without the rows of its traces. */
export interface StoredChunk {
  readonly chunk: number;
  /** Of the traces that are new here, those that were complete before. */
  readonly lateIds: readonly string[];
}

/**
 * Stores new spans alone; the rows of their traces are owed from then on. Said with a limit, each trace is
 * looked up by its id: of a table that it knows little of the planner reads all rows instead.
 */
export async function writeChunk(
  database: Database,
  { day, body, newIds, doubtfulIds }: Pick<Write, 'day' | 'body' | 'newIds' | 'doubtfulIds'>,
  nowMs: number,
): Promise<StoredChunk> {
  const [row] = await database.query<{ chunk: number; late: string[] }>(
    `with stored as (
       insert into tracer.chunk (id, body) values (
         $1::bigint * ${chunksPerDay} + nextval('tracer.chunk_number') % ${chunksPerDay}, $2::bytea)
       returning id),
     owing as (insert into tracer.open_chunk (id, received_at) select id, $4::bigint from stored)
     select stored.id as chunk, array(
       select n.id::text from unnest($3::uuid[]) as n (id) where (
         select true from tracer.trace c
         where c.trace_id = n.id and c.day between $1::bigint::integer - 1 and $1::bigint::integer
         limit 1)
       union all
       select n.id::text from unnest($5::uuid[]) as n (id) where (
         select true from tracer.trace c
         where c.trace_id = n.id and c.day < $1::bigint::integer - 1 limit 1)) as late
     from stored`,
    [day, asBuffer(body), `{${newIds.join(',')}}`, nowMs, `{${doubtfulIds.join(',')}}`],
  );
  if (!row) throw new Error('a chunk was not stored');
  return { chunk: row.chunk, lateIds: row.late.map(fromUuid) };
}

/** Writes rows that are owed; of the chunks told of none is owed any more. */
export async function writeOpenRows(
  database: Database,
  { rows, paidChunks }: Pick<OpenRows, 'rows' | 'paidChunks'>,
): Promise<WrittenRevision[]> {
  const written = await database.query<{ trace_id: string; revision: number }>(
    `with paid as (delete from tracer.open_chunk where id = any($2::bigint[]))
     insert into tracer.open_trace as t (${openNames}, chunks)
     select ${openNames}, chunks from json_to_recordset($1::json) as r(${openTypes}, chunks bigint[])
     ${updateOpen}
     returning trace_id, revision, false as is_late`,
    [rows, paidChunks],
  );
  return written.map((row) => toWritten({ ...row, is_late: false }));
}

/** Chunks whose traces have no rows for them, the oldest first. */
export function listOpenChunks(
  database: Database,
): Promise<{ readonly id: number; readonly receivedAt: number }[]> {
  return database.query(
    'select id, received_at as "receivedAt" from tracer.open_chunk order by id',
  );
}

/** Writes the rows that a chunk owes, but for traces that have it already. */
export async function payChunk(database: Database, id: number, rows: string): Promise<void> {
  await database.query(
    `with paid as (delete from tracer.open_chunk where id = $2::bigint)
     insert into tracer.open_trace as t (${openNames}, chunks)
     select ${openNames}, array[$2::bigint] from json_to_recordset($1::json) as r(${openTypes})
     where not exists (
         select from tracer.trace c where c.trace_id = r.trace_id and $2::bigint = any(c.chunks))
       and not exists (
         select from tracer.open_trace o where o.trace_id = r.trace_id and $2::bigint = any(o.chunks))
     ${updateOpen}`,
    [rows, id],
  );
}
