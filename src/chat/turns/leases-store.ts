import { toStoredTurn, turnColumns, type StoredTurn, type TurnRow } from './turn-row.ts';
import { leaseSeconds, type TurnSql } from './turns-store.ts';

const removedMax = 500;
const adoptedMax = 50;
const milliseconds = (parameter: string) => `make_interval(secs => ${parameter}::float8 / 1000)`;

/** Since when the database answers a replica without a break, and when it last did: by the database's clock. */
export interface Contact {
  readonly since: Date;
  readonly last: Date;
}

export interface Renewal {
  readonly at: Date;
  readonly held: readonly { readonly id: string; readonly isStopping: boolean }[];
}

/** Keeps turns for their replica, and answers which of them it still has and which are to stop. */
export async function renewLeases(
  sql: TurnSql,
  replica: string,
  turnIds: readonly string[],
): Promise<Renewal> {
  const rows = await sql.query<{ at: Date; id: string | null; is_stopping: boolean }>(
    `with renewed as (
       update chat.turns set lease_until = now() + make_interval(secs => ${leaseSeconds})
       where id = any($2::text[]) and replica = $1 and status = 'running' returning id, is_stopping
     )
     select clock.at, id, is_stopping from (select now() as at) clock left join renewed on true`,
    [replica, turnIds],
  );
  // Without any the clock's row stands alone.
  const held = rows.flatMap(({ id, is_stopping: isStopping }) =>
    id === null ? [] : [{ id, isStopping }],
  );
  return { at: rows[0]?.at ?? new Date(0), held };
}

/** When a replica may take over what others ran. */
export interface Heir {
  /** All others are dead. */
  readonly isAlone: boolean;
  readonly contact: Contact;
  /** Of the contact: its least length, and how long ago its last answer may be, in milliseconds. */
  readonly patienceMs: number;
  readonly breakMs: number;
}

/**
 * Takes over turns that nobody runs any more, to end them; one that is alone knows that all but its own
 * are such. While the database is away nobody can renew a lease: those of the living count again once it
 * has answered for a while, which the statement itself looks at, since it may be done late. Forgets some
 * of those that ended an hour ago.
 */
export async function adoptTurns(
  sql: TurnSql,
  replica: string,
  { isAlone, contact, patienceMs, breakMs }: Heir,
): Promise<StoredTurn[]> {
  const rows = await sql.query<TurnRow>(
    `with old as (
       delete from chat.turns where id in (select id from chat.turns
         where ended_at < now() - interval '1 hour' order by ended_at limit ${removedMax})
     )
     update chat.turns set replica = $1,
       lease_until = now() + make_interval(secs => ${leaseSeconds})
     where id in (select id from chat.turns where status = 'running'
         and (($2 and replica <> $1) or (lease_until < now()
           and $3::timestamptz <= now() - ${milliseconds('$5')}
           and $4::timestamptz >= now() - ${milliseconds('$6')}))
       order by lease_until limit ${adoptedMax} for update skip locked)
     returning ${turnColumns}`,
    [replica, isAlone, contact.since, contact.last, patienceMs, breakMs],
  );
  return rows.map(toStoredTurn);
}
