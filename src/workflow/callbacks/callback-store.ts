import type { Database } from '../../kit/database/database.ts';
import type { CallbackEvent, Delivery, DeliveryStatus, NewCallback } from './callback.ts';

/** What the stores of callbacks need of a database. */
export type CallbackSql = Pick<Database, 'query'>;

/**
 * Stores a callback; false when there is one with its key. With `replaces`, one that still waits gets
 * the new body instead, so that of progress only the newest is ever sent.
 */
export async function insertCallback(
  sql: CallbackSql,
  callback: NewCallback,
  { now, replaces }: { readonly now: Date; readonly replaces: boolean },
): Promise<boolean> {
  const { id, subjectId, event, dedupeKey, origin, target, addressHash, body } = callback;
  const rows = await sql.query(
    `insert into workflow.callbacks
       (id, subject_id, event, dedupe_key, origin, target, address_hash, body, due_at, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9::timestamptz, $9::timestamptz)
     on conflict (dedupe_key) do ${replaces ? replacing : 'nothing'}
     returning id`,
    [id, subjectId, event, dedupeKey, origin, target, addressHash, body, now],
  );
  return rows.length > 0;
}

/** What was sent, or given up on, is sent anew with the new body; what waits keeps its turn. */
const replacing = `update set body = excluded.body,
  revision = workflow.callbacks.revision + 1,
  attempts = case when workflow.callbacks.status = 'pending' then workflow.callbacks.attempts else 0 end,
  due_at = case when workflow.callbacks.status = 'pending' then workflow.callbacks.due_at
    else excluded.due_at end,
  status = 'pending'
  where workflow.callbacks.status <> 'superseded'`;

/** What waits of a subject's event is never sent: something that says more took its place. */
export async function supersedeCallback(sql: CallbackSql, dedupeKey: string): Promise<void> {
  await sql.query(
    `update workflow.callbacks set status = 'superseded'
     where dedupe_key = $1 and status = 'pending'`,
    [dedupeKey],
  );
}

/** A callback that this process is to send now. */
export interface ClaimedCallback {
  readonly id: string;
  readonly subjectId: string;
  readonly event: CallbackEvent;
  readonly target: string;
  readonly body: string;
  readonly revision: number;
  /** This one included. */
  readonly attempts: number;
}

/**
 * Claims callbacks that are due, of each address one, and none while another to the same address is
 * on its way. The attempt counts at once, so that no callback kills processes for ever.
 */
export function claimCallbacks(
  sql: CallbackSql,
  {
    now,
    leaseMs,
    countMax,
  }: { readonly now: Date; readonly leaseMs: number; readonly countMax: number },
): Promise<ClaimedCallback[]> {
  return sql.query<ClaimedCallback>(
    `with first as (
       select min(d.seq) as seq from workflow.callbacks d
       where d.status = 'pending' and d.due_at <= $1::timestamptz and not exists (
         select 1 from workflow.callbacks o where o.address_hash = d.address_hash
           and o.claimed_until > $1::timestamptz)
       group by d.address_hash order by 1 limit $3
     ), due as (
       select c.seq from workflow.callbacks c join first on first.seq = c.seq
       where c.status = 'pending' and c.due_at <= $1::timestamptz
         and (c.claimed_until is null or c.claimed_until <= $1::timestamptz)
       for update of c skip locked
     )
     update workflow.callbacks c
     set attempts = c.attempts + 1, due_at = $2::timestamptz, claimed_until = $2::timestamptz
     from due where c.seq = due.seq
     returning c.id, c.subject_id as "subjectId", c.event, c.target, c.body, c.revision, c.attempts`,
    [now, new Date(now.getTime() + leaseMs), countMax],
  );
}

/** What became of an attempt. */
export type DeliveryOutcome = {
  readonly answer?: number | undefined;
  readonly error?: string | undefined;
} & (
  | { readonly status: 'delivered'; readonly at: Date }
  | { readonly status: 'failed' }
  | { readonly status: 'pending'; readonly dueAt: Date }
);

/**
 * Writes it down, unless the claim had run out and somebody else has the callback. A body that was
 * replaced meanwhile is still to be sent.
 */
export async function recordDelivery(
  sql: CallbackSql,
  claimed: Pick<ClaimedCallback, 'id' | 'attempts' | 'revision'>,
  { outcome, now }: { readonly outcome: DeliveryOutcome; readonly now: Date },
): Promise<void> {
  await sql.query(
    `update workflow.callbacks set
       status = case when status = 'superseded' then status when revision = $3 then $4
         else 'pending' end,
       attempts = case when revision = $3 or $4 = 'pending' then attempts else 0 end,
       due_at = case when revision = $3 or $4 = 'pending' then $5::timestamptz else $8::timestamptz end,
       delivered_at = $6::timestamptz, answer = $7, error = $9, claimed_until = null
     where id = $1 and attempts = $2 and claimed_until is not null`,
    [
      claimed.id,
      claimed.attempts,
      claimed.revision,
      outcome.status,
      outcome.status === 'pending' ? outcome.dueAt : now,
      outcome.status === 'delivered' ? outcome.at : null,
      outcome.answer ?? null,
      now,
      outcome.error ?? null,
    ],
  );
}

/** When the next callback is due; undefined when none waits. */
export async function nextDueAt(sql: CallbackSql): Promise<Date | undefined> {
  const [row] = await sql.query<{ at: Date | null }>(
    `select min(due_at) as at from workflow.callbacks where status = 'pending'`,
  );
  return row?.at ?? undefined;
}

interface DeliveryRow {
  readonly id: string;
  readonly event: CallbackEvent;
  readonly origin: string;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  readonly created_at: Date;
  readonly due_at: Date;
  readonly delivered_at: Date | null;
  readonly answer: number | null;
  readonly error: string | null;
}

/** The callbacks of an execution or a batch, oldest first, a thousand at most. */
export async function listDeliveries(sql: CallbackSql, subjectId: string): Promise<Delivery[]> {
  const rows = await sql.query<DeliveryRow>(
    `select id, event, origin, status, attempts, created_at, due_at, delivered_at, answer, error
     from workflow.callbacks where subject_id = $1 order by seq limit 1000`,
    [subjectId],
  );
  return rows.map((row) => ({
    id: row.id,
    event: row.event,
    origin: row.origin,
    status: row.status,
    attempts: row.attempts,
    createdAt: row.created_at,
    dueAt: row.due_at,
    deliveredAt: row.delivered_at ?? undefined,
    answer: row.answer ?? undefined,
    error: row.error ?? undefined,
  }));
}

/** Forgets what was settled before a moment. */
export async function deleteCallbacksBefore(sql: CallbackSql, moment: Date): Promise<void> {
  await sql.query(
    `delete from workflow.callbacks where created_at < $1::timestamptz and status <> 'pending'`,
    [moment],
  );
}
