import type { Database } from '../../kit/database/database.ts';
import type { OpenRows } from './messages.ts';
import type { Write, WrittenRevision } from './writes.ts';
import { chunkParameters, storedChunks } from './chunk-store.ts';
import { fromUuid, toWritten, updateOpen } from './trace-store.ts';
import { openNames, openTypes } from './trace-rows.ts';

/** Chunks that were stored without the rows of their traces. */
export interface StoredChunks {
  /** Their numbers, in their order. */
  readonly chunks: readonly number[];
  /** Of the traces that are new here, those that were complete before. */
  readonly lateIds: readonly string[];
}

/**
 * Stores new spans alone; the rows of their traces are owed from then on. Said with a limit, each trace is
 * looked up by its id: of a table that it knows little of the planner reads all rows instead.
 */
export async function writeChunks(
  database: Database,
  write: Pick<Write, 'day' | 'body' | 'chunks' | 'newIds' | 'doubtfulIds'>,
  nowMs: number,
): Promise<StoredChunks> {
  const { newIds, doubtfulIds } = write;
  const [row] = await database.query<{ chunks: number[]; late: string[] }>(
    `with ${storedChunks},
     owing as (insert into tracer.open_chunk (id, received_at) select id, $4::bigint from piece)
     select array(select id from piece order by number) as chunks, array(
       select n.id::text from unnest($5::uuid[]) as n (id) where (
         select true from tracer.trace c
         where c.trace_id = n.id and c.day between $1::bigint::integer - 1 and $1::bigint::integer
         limit 1)
       union all
       select n.id::text from unnest($6::uuid[]) as n (id) where (
         select true from tracer.trace c
         where c.trace_id = n.id and c.day < $1::bigint::integer - 1 limit 1)) as late`,
    [...chunkParameters(write), nowMs, `{${newIds.join(',')}}`, `{${doubtfulIds.join(',')}}`],
  );
  if (!row) throw new Error('chunks were not stored');
  return { chunks: row.chunks, lateIds: row.late.map(fromUuid) };
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
