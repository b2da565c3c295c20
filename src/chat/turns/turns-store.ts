import type { Database } from '../../kit/database/database.ts';
import type { TurnStatus } from './turn.ts';
import { eventOf, type LogEntry } from './turn-log.ts';
import {
  toStoredTurn,
  turnColumns,
  type CallState,
  type StoredTurn,
  type TurnRow,
} from './turn-row.ts';

export type TurnSql = Pick<Database, 'query' | 'dialect'>;

/** How long a replica that says nothing keeps its turns. */
export const leaseSeconds = 10;
/** The largest `integer` of PostgreSQL. */
const seqMax = 2_147_483_647;
/** How long an ended turn can be read. */
const keptInterval = `interval '1 hour'`;

/** A turn that runs, waits, or ended within the last hour. */
export async function readTurn(
  sql: TurnSql,
  turnId: string,
  ownerId: string | undefined,
): Promise<StoredTurn | undefined> {
  const [row] = await sql.query<TurnRow>(
    `select ${turnColumns} from chat.turns where id = $1 and ($2::text is null or owner_id = $2)
       and (ended_at is null or ended_at > now() - ${keptInterval})`,
    [turnId, ownerId],
  );
  return row && toStoredTurn(row);
}

/** The stored entries of a turn from the one that holds `after` on; what is before must be skipped. */
export async function readEntries(
  sql: TurnSql,
  turnId: string,
  after: number,
): Promise<LogEntry[]> {
  const rows = await sql.query<{ entries: string }>(
    `select entries from chat.turn_events where turn_id = $1 and seq >= coalesce(
       (select max(seq) from chat.turn_events where turn_id = $1 and seq <= $2), 0) order by seq`,
    [turnId, after],
  );
  return rows.flatMap(({ entries }) => JSON.parse(entries) as LogEntry[]);
}

/** The number of the last stored event of a turn; 0 when there is none. */
export async function readStoredSeq(sql: TurnSql, turnId: string): Promise<number> {
  const last = (await readEntries(sql, turnId, seqMax)).at(-1);
  return last === undefined ? 0 : eventOf(last).seq;
}

/** What is written of one turn at once: its new entries, and its state where that changed. */
export interface TurnWrite {
  readonly turnId: string;
  readonly entries: readonly LogEntry[];
  readonly lastSeq: number;
  readonly state?: TurnState | undefined;
}

export interface TurnState {
  readonly status: TurnStatus;
  readonly messageId: string;
  readonly model: string;
  readonly calls?: readonly CallState[];
}

const runningEnd = `('completed', 'stopped', 'failed', 'interrupted')`;

/**
 * Writes what turns of this replica have come to, and answers which of them are still its own; of the
 * others nothing is written. It may be repeated with more from the same place, whether or not it was
 * done, and whichever is done last: what reaches further stays.
 */
export async function writeTurns(
  sql: TurnSql,
  replica: string,
  writes: readonly TurnWrite[],
): Promise<ReadonlySet<string>> {
  const rows = await sql.query<{ id: string }>(
    `with given as (
       select * from unnest($2::text[], $3::int[], $4::text[], $5::int[], $6::text[], $7::text[],
         $8::text[], $9::text[])
         as g (id, seq, entries, last_seq, status, message_id, model, calls)
     ), held as (
       select t.id from chat.turns t join given g on g.id = t.id
       where t.replica = $1 and t.status = 'running' for update of t
     ), written as (
       insert into chat.turn_events (turn_id, seq, entries)
       select g.id, g.seq, g.entries from given g join held h on h.id = g.id
       where g.entries is not null
       -- Both are cut from one log at one place: the longer one is the shorter one and more.
       on conflict (turn_id, seq) do update set entries = excluded.entries
         where octet_length(excluded.entries) > octet_length(turn_events.entries)
     ), changed as (
       update chat.turns t set last_seq = g.last_seq, status = g.status, model = g.model,
         message_id = g.message_id, calls = coalesce(g.calls, t.calls),
         ended_at = case when g.status in ${runningEnd} then now() end,
         replica = case when g.status = 'running' then t.replica end
       from given g join held h on h.id = g.id where t.id = g.id and g.status is not null
     )
     select id from held`,
    [
      replica,
      writes.map(({ turnId }) => turnId),
      writes.map(({ entries }) => entries[0]?.seq ?? 0),
      writes.map(({ entries }) => (entries.length === 0 ? null : JSON.stringify(entries))),
      writes.map(({ lastSeq }) => lastSeq),
      writes.map(({ state }) => state?.status ?? null),
      writes.map(({ state }) => state?.messageId ?? null),
      writes.map(({ state }) => state?.model ?? null),
      writes.map(({ state }) => (state?.calls ? JSON.stringify(state.calls) : null)),
    ],
  );
  return new Set(rows.map(({ id }) => id));
}

export interface WaitingChange {
  readonly stored: StoredTurn;
  readonly status: 'waiting' | 'running' | 'stopped';
  readonly calls: readonly CallState[];
  readonly entries: readonly LogEntry[];
  readonly replica: string;
}

/** Changes a waiting turn; false when it was changed meanwhile. */
export async function changeWaiting(
  sql: TurnSql,
  { stored, status, calls, entries, replica }: WaitingChange,
): Promise<boolean> {
  const rows = await sql.query(
    `with changed as (
       update chat.turns set status = $3, calls = $4, version = version + 1, last_seq = $5,
         replica = case when $3 = 'running' then $6 end,
         lease_until = now() + make_interval(secs => ${leaseSeconds}),
         ended_at = case when $3 = 'stopped' then now() end
       where id = $1 and version = $2 and status = 'waiting' returning id
     ), written as (
       insert into chat.turn_events (turn_id, seq, entries)
       select id, $7, $8 from changed where $8::text is not null
     )
     select id from changed`,
    [
      stored.turn.id,
      stored.version,
      status,
      JSON.stringify(calls),
      stored.lastSeq + entries.length,
      replica,
      stored.lastSeq + 1,
      entries.length === 0 ? null : JSON.stringify(entries),
    ],
  );
  return rows.length > 0;
}

/** Notes that a turn is to stop, for whoever runs it; undefined when there is none that goes on. */
export async function markStopping(
  sql: TurnSql,
  ownerId: string,
  which: { readonly turnId: string } | { readonly conversationId: string },
): Promise<StoredTurn | undefined> {
  const byTurn = 'turnId' in which;
  const [row] = await sql.query<TurnRow>(
    `update chat.turns set is_stopping = true
     where owner_id = $1 and ${byTurn ? 'id' : 'conversation_id'} = $2
       and status in ('running', 'waiting')
     returning ${turnColumns}`,
    [ownerId, byTurn ? which.turnId : which.conversationId],
  );
  return row && toStoredTurn(row);
}

const idPattern = /^[a-z]{3}_[\w-]{1,64}$/;

/** Whether the tables can be asked for it at all. */
export function isId(text: string): boolean {
  return idPattern.test(text);
}
