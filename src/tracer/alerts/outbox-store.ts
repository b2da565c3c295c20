import type { AlertSql } from './alert-store.ts';
import type { AlertFacts, EventKind, SealedNotification } from './alert.ts';

/** A message that this process is to send now. */
export interface Claimed {
  readonly seq: number;
  readonly alertId: string;
  readonly eventId: string;
  readonly kind: EventKind;
  readonly at: Date;
  readonly facts: AlertFacts;
  readonly notification: SealedNotification;
  /** This one included. */
  readonly attempts: number;
}

interface ClaimedRow {
  readonly seq: number;
  readonly alert_id: string;
  readonly event_id: string;
  readonly kind: EventKind;
  readonly at: Date;
  readonly facts: AlertFacts;
  readonly notification: SealedNotification;
  readonly attempts: number;
}

export interface ClaimOptions {
  readonly now: Date;
  /** After which a claim whose process died is nobody's again. */
  readonly leaseMs: number;
  readonly countMax: number;
  /** Those that are left to other processes, by their `seq`. */
  readonly except?: readonly number[];
}

/**
 * Claims the messages that are due, each attempt counted at once so that no message kills processes
 * for ever. Those that go to one place of an alert are claimed in their order, one at a time.
 */
export async function claimDeliveries(
  sql: AlertSql,
  { now, leaseMs, countMax, except = [] }: ClaimOptions,
): Promise<readonly Claimed[]> {
  const rows = await sql.query<ClaimedRow>(
    `with due as (
       select d.seq from tracer.alert_deliveries d
       where d.status = 'pending' and d.due_at <= $1::timestamptz
         and d.seq <> all ($4::bigint[]) and not exists (
         select 1 from tracer.alert_deliveries earlier
         where earlier.status = 'pending' and earlier.alert_id = d.alert_id
           and earlier.place = d.place and earlier.seq < d.seq)
       order by d.seq limit $3 for update of d skip locked
     ), claimed as (
       update tracer.alert_deliveries d set attempts = d.attempts + 1, due_at = $2::timestamptz
       from due where d.seq = due.seq
       returning d.seq, d.alert_id, d.event_id, d.notification, d.attempts
     )
     select c.seq, c.alert_id, c.event_id, e.kind, e.at, e.facts, c.notification, c.attempts
     from claimed c join tracer.alert_events e on e.id = c.event_id
     order by c.seq`,
    [now, new Date(now.getTime() + leaseMs), countMax, except],
  );
  return rows.map((row) => {
    const { seq, kind, at, facts, notification, attempts } = row;
    const own = { seq, kind, at, facts, notification, attempts };
    return { ...own, alertId: row.alert_id, eventId: row.event_id };
  });
}

/** What became of an attempt. */
export type Outcome =
  | { readonly status: 'delivered'; readonly at: Date; readonly error?: string | undefined }
  | { readonly status: 'failed'; readonly error: string }
  | {
      readonly status: 'pending';
      readonly dueAt: Date;
      readonly error: string;
      /** The attempt does not count: another process may do what this one cannot. */
      readonly isUnspent?: boolean;
    };

/** Writes it down, unless the claim had run out and somebody else has the message. */
export async function recordOutcome(
  sql: AlertSql,
  { seq, attempts }: Pick<Claimed, 'seq' | 'attempts'>,
  outcome: Outcome,
): Promise<void> {
  await sql.query(
    `update tracer.alert_deliveries set status = $3, error = $4, attempts = attempts - $7::integer,
       due_at = coalesce($5::timestamptz, due_at), delivered_at = $6::timestamptz
     where seq = $1 and attempts = $2 and status = 'pending'`,
    [
      seq,
      attempts,
      outcome.status,
      outcome.error ?? null,
      outcome.status === 'pending' ? outcome.dueAt : null,
      outcome.status === 'delivered' ? outcome.at : null,
      outcome.status === 'pending' && outcome.isUnspent === true ? 1 : 0,
    ],
  );
}
