import {
  executionColumns,
  toStored,
  type ExecutionRow,
  type StoredExecution,
} from '../journal/execution-row.ts';
import type { EngineSql } from '../journal/journal-store.ts';

/** What one look at all replicas and executions brought. */
export interface Beat {
  /** False: others hold this replica for dead, and what it ran is theirs. */
  readonly isAlive: boolean;
  /** It was silent so long that others may have taken what it runs. */
  readonly wasSilent: boolean;
  readonly hasQueued: boolean;
  readonly hasUntold: boolean;
}

/** Enters a replica; one that is alone on its database knows that all others are dead. */
export async function enterReplica(
  sql: EngineSql,
  replica: string,
  { isAlone }: { readonly isAlone: boolean },
): Promise<void> {
  await sql.query(
    `with gone as (delete from workflow.replicas where $2 and id <> $1)
     insert into workflow.replicas (id, beat_at) values ($1, now())`,
    [replica, isAlone],
  );
}

export async function leaveReplica(sql: EngineSql, replica: string): Promise<void> {
  await sql.query('delete from workflow.replicas where id = $1', [replica]);
}

/**
 * Says that this replica lives, queues what dead ones ran and what has waited long enough, and forgets
 * the dead. The epoch of what a dead one ran goes up: should it live after all, its writes do nothing.
 * A beat of others that lies ahead, because the clock was set back, counts as one of this moment.
 */
export async function beat(
  sql: EngineSql,
  replica: string,
  { silenceMs }: { readonly silenceMs: number },
): Promise<Beat> {
  const [row] = await sql.query<{
    alive: boolean;
    silent: boolean;
    queued: boolean;
    untold: boolean;
  }>(
    `with alive as (
       update workflow.replicas set beat_at = now() where id = $1 returning id
     ), set_back as (
       update workflow.replicas set beat_at = now()
       where id in (select id from workflow.replicas
           where id <> $1 and beat_at > now() for update skip locked)
     ), living as (
       select id from workflow.replicas
       where id = $1 or beat_at > now() - make_interval(secs => $2::float8 / 1000)
     ), forgotten as (
       delete from workflow.replicas where id not in (select id from living)
         and beat_at < now() - make_interval(secs => $2::float8 / 100)
     ), freed as (
       update workflow.executions set status = 'queued', replica = null, epoch = epoch + 1
       where id in (select id from workflow.executions
           where completed_at is null and status = 'running'
             and replica not in (select id from living)
           order by id for update skip locked)
       returning id
     ), woken as (
       update workflow.executions set status = 'queued'
       where id in (select id from workflow.executions
           where status = 'waiting' and wake_at <= now()
           order by wake_at for update skip locked)
       returning id
     )
     select exists (select from alive) as alive,
       exists (select from workflow.replicas where id = $1
         and beat_at <= now() - make_interval(secs => $2::float8 / 1000)) as silent,
       exists (select from freed) or exists (select from woken) or exists (
         select from workflow.executions where status = 'queued' and completed_at is null) as queued,
       exists (select from workflow.executions where tell_at <= now()) as untold`,
    [replica, silenceMs],
  );
  return {
    isAlive: row?.alive ?? false,
    wasSilent: row?.silent ?? false,
    hasQueued: row?.queued ?? false,
    hasUntold: row?.untold ?? false,
  };
}

/** The executions that a replica runs as everybody knows, with their epochs. */
export async function readHeld(sql: EngineSql, replica: string): Promise<Map<string, number>> {
  const rows = await sql.query<{ id: string; epoch: number }>(
    `select id, epoch from workflow.executions
     where completed_at is null and status = 'running' and replica = $1`,
    [replica],
  );
  return new Map(rows.map(({ id, epoch }) => [id, epoch]));
}

/** Takes ended executions that nobody has told of in time, and keeps others from them for a while. */
export async function takeUntold(
  sql: EngineSql,
  { delayMs, isAlone }: { readonly delayMs: number; readonly isAlone: boolean },
): Promise<StoredExecution[]> {
  const rows = await sql.query<ExecutionRow>(
    `update workflow.executions set tell_at = now() + make_interval(secs => $1::float8 / 1000)
     where id in (select id from workflow.executions
       where tell_at is not null and ($2 or tell_at <= now())
       order by tell_at limit 200 for update skip locked)
     returning ${executionColumns}`,
    [delayMs, isAlone],
  );
  return rows.map(toStored);
}

/** Notes that the end of executions was told. */
export async function markTold(sql: EngineSql, executionIds: readonly string[]): Promise<void> {
  await sql.query(
    'update workflow.executions set tell_at = null where id = any($1::text[]) and tell_at is not null',
    [executionIds],
  );
}

/** Counts what is open, for the metrics. */
export async function countOpen(sql: EngineSql): Promise<{ queued: number; waiting: number }> {
  const rows = await sql.query<{ status: string; count: number }>(
    `select status, count(*) as count from workflow.executions
     where completed_at is null group by status`,
  );
  const of = (wanted: string) => rows.find(({ status }) => status === wanted)?.count ?? 0;
  return { queued: of('queued'), waiting: of('waiting') };
}

/** Forgets executions that ended before a time with all that belongs to them, so many at once. */
export async function deleteEnded(sql: EngineSql, before: Date, countMax: number): Promise<number> {
  const rows = await sql.query(
    `with old as (
       select id from workflow.executions where completed_at < $1::timestamptz and tell_at is null
       limit $2
     ), nodes as (
       delete from workflow.node_runs where execution_id in (select id from old)
     ), events as (
       delete from workflow.execution_events where execution_id in (select id from old)
     )
     delete from workflow.executions where id in (select id from old) returning id`,
    [before, countMax],
  );
  return rows.length;
}
