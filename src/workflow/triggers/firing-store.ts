import type { Firing, FiringStatus, Trigger } from './trigger.ts';
import type { TriggerSql } from './trigger-store.ts';

interface FiringRow {
  readonly id: string;
  readonly trigger_id: string;
  readonly key: string;
  readonly status: FiringStatus;
  readonly at: Date;
  readonly inputs: string | null;
  readonly execution_id: string | null;
  readonly error: string | null;
}

const columns = 'f.id, f.trigger_id, f.key, f.status, f.at, f.inputs, f.execution_id, f.error';

export interface NewFiring {
  readonly id: string;
  readonly triggerId: string;
  readonly key: string;
  readonly at: Date;
  readonly claimedUntil: Date;
  readonly inputs: Readonly<Record<string, unknown>>;
  /** Why it failed before anything was begun. */
  readonly error?: string;
}

/** Stores a firing of this process; when there is one with its key, that one, as not new. */
export async function insertFiring(
  sql: TriggerSql,
  firing: NewFiring,
): Promise<{ readonly firing: Firing; readonly isNew: boolean } | undefined> {
  const [row] = await sql.query<FiringRow>(
    `with f as (
       insert into workflow.trigger_firings as f (id, trigger_id, key, status, at, claimed_until,
         inputs, error)
       select $1, id, $3, case when $7::text is null then 'claimed' else 'failed' end,
         $4::timestamptz, $5::timestamptz, $6, $7
       from workflow.triggers where id = $2
       on conflict (trigger_id, key) do nothing
       returning ${columns}
     ), counted as (
       update workflow.triggers t set fired_count = t.fired_count + 1, fired_at = f.at
       from f where t.id = f.trigger_id
     )
     select * from f`,
    [
      firing.id,
      firing.triggerId,
      firing.key,
      firing.at,
      firing.claimedUntil,
      JSON.stringify(firing.inputs),
      firing.error ?? null,
    ],
  );
  if (row) return { firing: toFiring(row), isNew: true };
  const [known] = await sql.query<FiringRow>(
    `select ${columns} from workflow.trigger_firings f where f.trigger_id = $1 and f.key = $2`,
    [firing.triggerId, firing.key],
  );
  return known && { firing: toFiring(known), isNew: false };
}

/**
 * Moves a schedule on and stores its firing in one statement. Undefined when another replica did, or
 * the trigger was changed: of several replicas one fires.
 */
export async function fireDue(
  sql: TriggerSql,
  { id, nextAt, revision }: Pick<Trigger, 'id' | 'nextAt' | 'revision'>,
  {
    next,
    firing,
  }: { readonly next: Date | undefined; readonly firing: Omit<NewFiring, 'triggerId'> },
): Promise<Firing | undefined> {
  const [row] = await sql.query<FiringRow>(
    `with moved as (
       update workflow.triggers set next_at = $4::timestamptz, fired_count = fired_count + 1,
         fired_at = $7::timestamptz
       where id = $1 and next_at = $2::timestamptz and revision = $3 and is_enabled
       returning id
     )
     insert into workflow.trigger_firings as f (id, trigger_id, key, status, at, claimed_until, inputs)
     select $5, id, $6, 'claimed', $7::timestamptz, $8::timestamptz, $9 from moved
     on conflict (trigger_id, key) do nothing
     returning ${columns}`,
    [
      id,
      nextAt,
      revision,
      next,
      firing.id,
      firing.key,
      firing.at,
      firing.claimedUntil,
      JSON.stringify(firing.inputs),
    ],
  );
  return row && toFiring(row);
}

/** What became of a firing. */
export type FiringOutcome =
  | { readonly status: 'started'; readonly executionId: string }
  | { readonly status: 'skipped' | 'failed'; readonly error: string }
  | { readonly status: 'queued' };

/** Writes it down, unless it has started or was skipped. */
export async function recordFiring(
  sql: TriggerSql,
  firingId: string,
  outcome: FiringOutcome,
): Promise<void> {
  await sql.query(
    `update workflow.trigger_firings set status = $2, execution_id = $3, error = $4,
       inputs = case when $2 = 'queued' then inputs end, claimed_until = null
     where id = $1 and status in ('claimed', 'queued', 'failed')`,
    [
      firingId,
      outcome.status,
      outcome.status === 'started' ? outcome.executionId : null,
      'error' in outcome ? outcome.error : null,
    ],
  );
}

/** What stands before a firing of the same trigger. */
export interface Before {
  /** Of the newest that started. */
  readonly executionId: string | undefined;
  /** Whether another is just being started. */
  readonly isStarting: boolean;
  readonly queuedCount: number;
}

export async function readBefore(
  sql: TriggerSql,
  { id, triggerId }: Pick<Firing, 'id' | 'triggerId'>,
  now: Date,
): Promise<Before> {
  const [row] = await sql.query<{
    execution_id: string | null;
    is_starting: boolean;
    queued: number;
  }>(
    `select
       (select execution_id from workflow.trigger_firings
        where trigger_id = $1 and status = 'started' order by id desc limit 1) as execution_id,
       exists (select 1 from workflow.trigger_firings
        where trigger_id = $1 and status = 'claimed' and id <> $2 and id < $2
          and claimed_until > $3::timestamptz) as is_starting,
       (select count(*) from workflow.trigger_firings
        where trigger_id = $1 and status = 'queued' and id <> $2) as queued`,
    [triggerId, id, now],
  );
  return {
    executionId: row?.execution_id ?? undefined,
    isStarting: row?.is_starting ?? false,
    queuedCount: row?.queued ?? 0,
  };
}

/** Of each trigger the firing that waits longest. */
export async function listQueued(sql: TriggerSql, countMax: number): Promise<Firing[]> {
  const rows = await sql.query<FiringRow>(
    `select distinct on (f.trigger_id) ${columns} from workflow.trigger_firings f
     where f.status = 'queued' order by f.trigger_id, f.id limit $1`,
    [countMax],
  );
  return rows.map(toFiring);
}

/** Takes a queued firing; of several replicas one gets true. */
export async function claimQueued(
  sql: TriggerSql,
  firingId: string,
  claimedUntil: Date,
): Promise<boolean> {
  const rows = await sql.query(
    `update workflow.trigger_firings set status = 'claimed', claimed_until = $2::timestamptz
     where id = $1 and status = 'queued' returning id`,
    [firingId, claimedUntil],
  );
  return rows.length > 0;
}

/** Takes over firings whose process died before it had started them. */
export async function claimAbandoned(
  sql: TriggerSql,
  { now, until, countMax }: { readonly now: Date; readonly until: Date; readonly countMax: number },
): Promise<Firing[]> {
  const rows = await sql.query<FiringRow>(
    `with free as (
       select id as free_id from workflow.trigger_firings
       where status = 'claimed' and claimed_until <= $1::timestamptz
       order by id limit $3 for update skip locked)
     update workflow.trigger_firings f set claimed_until = $2::timestamptz
     from free where f.id = free_id
     returning ${columns}`,
    [now, until, countMax],
  );
  return rows.map(toFiring);
}

/** One page of a trigger's firings, the newest first, and how many there are. */
export async function listFirings(
  sql: TriggerSql,
  triggerId: string,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<{ readonly firings: Firing[]; readonly total: number }> {
  const rows = await sql.query<FiringRow>(
    `select ${columns} from workflow.trigger_firings f where f.trigger_id = $1
     order by f.id desc limit $2 offset $3`,
    [triggerId, limit, offset],
  );
  const [all] = await sql.query<{ total: number }>(
    'select count(*) as total from workflow.trigger_firings where trigger_id = $1',
    [triggerId],
  );
  return { firings: rows.map(toFiring), total: all?.total ?? 0 };
}

/** Forgets what was settled before a moment. */
export async function deleteFiringsBefore(sql: TriggerSql, moment: Date): Promise<void> {
  await sql.query(
    `delete from workflow.trigger_firings
     where at < $1::timestamptz and status not in ('claimed', 'queued')`,
    [moment],
  );
}

function toFiring(row: FiringRow): Firing {
  return {
    id: row.id,
    triggerId: row.trigger_id,
    key: row.key,
    status: row.status,
    at: row.at,
    // Written by this area, of an object.
    inputs: row.inputs === null ? undefined : (JSON.parse(row.inputs) as Firing['inputs']),
    executionId: row.execution_id ?? undefined,
    error: row.error ?? undefined,
  };
}
