import type { Database } from '../../kit/database/database.ts';
import { fromUuid } from './trace-store.ts';

/** A process that was not seen for so long is gone. */
const goneSeconds = 8;
const isGone = `seen_at < clock_timestamp() - interval '${goneSeconds} seconds'`;

/** Says that a process is there; answers whether there are others that are gone. */
export async function noteSeen(database: Database, processId: string): Promise<boolean> {
  const [row] = await database.query<{ gone: boolean }>(
    `with seen as (
       insert into tracer.process (id) values ($1::uuid)
       on conflict (id) do update set seen_at = excluded.seen_at)
     select exists (select from tracer.process where id <> $1::uuid and ${isGone}) as gone`,
    [processId],
  );
  return row?.gone === true;
}

/** Says that a process is there no more: it is gone from now on. */
export async function noteLeft(database: Database, processId: string): Promise<void> {
  const text = `update tracer.process set seen_at = '-infinity' where id = $1::uuid`;
  await database.query(text, [processId]);
}

/** Gives a process the open traces of those that are gone; answers their ids. Each has one taker. */
export async function takeOver(database: Database, processId: string): Promise<string[]> {
  const rows = await database.query<TraceRow>(
    `with gone as (delete from tracer.process where id <> $1::uuid and ${isGone} returning id)
     update tracer.open_trace set holder = $1::uuid where holder in (select id from gone)
     returning trace_id`,
    [processId],
  );
  return idsOf(rows);
}

/** The open traces of a process. */
export async function listHeld(database: Database, processId: string): Promise<string[]> {
  const text = 'select trace_id from tracer.open_trace where holder = $1::uuid';
  return idsOf(await database.query<TraceRow>(text, [processId]));
}

interface TraceRow {
  readonly trace_id: string;
}

function idsOf(rows: readonly TraceRow[]): string[] {
  return rows.map(({ trace_id: traceId }) => fromUuid(traceId));
}
