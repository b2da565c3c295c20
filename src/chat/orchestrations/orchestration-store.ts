import type { Database } from '../../kit/database/database.ts';
import type { OrchestrationStatus } from './orchestration.ts';
import {
  stepColumnTypes,
  timeOf,
  toStepRow,
  toStored,
  type OrchestrationRow,
} from './orchestration-row.ts';
import type { StoredOrchestration, StoredStep } from './stored-orchestration.ts';

export type OrchestrationSql = Pick<Database, 'query'>;

/** Who holds orchestrations, and for how long from now. */
export interface Hold {
  readonly replica: string;
  readonly leaseMs: number;
  /** Nobody else can have the database open, so that all former holders are dead. */
  readonly isAlone?: boolean;
  /** Of its own and others' together; its own come first. */
  readonly countMax: number;
}

const columns = `id, owner_id, task, context, is_parallel, status, created_at, deadline_at, ended_at,
  replica, epoch`;
const stepColumns = `place, agent_id, name, task_type, status, task_id, result, error, started_at,
  ended_at`;
const ownColumns = columns.replaceAll(/\w+/g, 'o.$&');
/** Of row `o`, in their order. */
const steps = `(select json_agg(s order by s.place) from chat.orchestration_steps s
  where s.orchestration_id = o.id)`;
const read = `${ownColumns}, ${steps} as steps`;
const lease = (parameter: string) => `now() + make_interval(secs => ${parameter}::float8 / 1000)`;

/** Stores a new one with its steps; false when its owner has too many that run. */
export async function insertOrchestration(
  sql: OrchestrationSql,
  stored: StoredOrchestration,
  { leaseMs, runningMax }: { readonly leaseMs: number; readonly runningMax: number },
): Promise<boolean> {
  const { id, ownerId, task, context, isParallel } = stored;
  const rows = await sql.query(
    `with added as (
       insert into chat.orchestrations
         (id, owner_id, task, context, is_parallel, status, created_at, deadline_at, replica, lease_until)
       select $1, $2, $3, $4, $5, 'running', $6::timestamptz, $7::timestamptz, $8, ${lease('$9')}
       where (select count(*) from chat.orchestrations
         where owner_id = $2 and ended_at is null) < $10::integer
       returning id
     ), steps as (
       insert into chat.orchestration_steps (orchestration_id, ${stepColumns})
       select orchestration_id, ${stepColumns}
       from json_to_recordset($11::json) as given(${stepColumnTypes})
       where exists (select from added)
     )
     select id from added`,
    [
      id,
      ownerId,
      task,
      JSON.stringify(context),
      isParallel,
      new Date(stored.createdAtMs),
      new Date(stored.deadlineAtMs),
      stored.replica,
      leaseMs,
      runningMax,
      JSON.stringify(stored.steps.map((step) => toStepRow(id, step))),
    ],
  );
  return rows.length > 0;
}

/** Whoever's it is. */
export async function readOrchestration(
  sql: OrchestrationSql,
  id: string,
): Promise<StoredOrchestration | undefined> {
  const [row] = await sql.query<OrchestrationRow>(
    `select ${read} from chat.orchestrations o where o.id = $1`,
    [id],
  );
  return row && toStored(row);
}

/** The newest first. */
export async function listOrchestrations(
  sql: OrchestrationSql,
  ownerId: string,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<{ readonly orchestrations: readonly StoredOrchestration[]; readonly total: number }> {
  const rows = await sql.query<OrchestrationRow & { readonly total: number }>(
    `select counted.total::integer as total, page.*
     from (select count(*) as total from chat.orchestrations where owner_id = $1) counted
     left join (
       select ${read} from chat.orchestrations o where o.owner_id = $1
       order by o.created_at desc, o.id desc limit $2 offset $3
     ) page on true
     order by page.created_at desc, page.id desc`,
    [ownerId, limit, offset],
  );
  // Without any on the page the count's row stands alone.
  const found = rows.filter(({ id }) => id !== null);
  return { orchestrations: found.map(toStored), total: rows[0]?.total ?? 0 };
}

/** What a run has to write of one orchestration. */
export interface OrchestrationWrite {
  readonly id: string;
  readonly epoch: number;
  readonly steps: readonly StoredStep[];
  /** Its own end, with its last steps. */
  readonly end?: { readonly status: OrchestrationStatus; readonly atMs: number } | undefined;
}

/**
 * Writes steps and ends of any number of orchestrations in one statement; the ids of those that were
 * still the writer's and open. Each orchestration and each step may be named once; a step that has
 * ended stays as it is.
 */
export async function writeOrchestrations(
  sql: OrchestrationSql,
  writes: readonly OrchestrationWrite[],
): Promise<ReadonlySet<string>> {
  const given = writes.map(({ id, epoch, end }) => {
    return { id, epoch, status: end?.status, ended_at: timeOf(end?.atMs) };
  });
  const stepRows = writes.flatMap((write) => write.steps.map((step) => toStepRow(write.id, step)));
  const rows = await sql.query<{ readonly id: string }>(
    `with given as (
       select * from json_to_recordset($1::json)
         as g(id text, epoch integer, status text, ended_at timestamptz)
     ), own as (
       select o.id from chat.orchestrations o join given g on g.id = o.id and g.epoch = o.epoch
       where o.ended_at is null order by o.id for update of o
     ), stepped as (
       update chat.orchestration_steps s set status = n.status,
         task_id = coalesce(n.task_id, s.task_id), result = n.result, error = n.error,
         started_at = n.started_at, ended_at = n.ended_at
       from json_to_recordset($2::json) as n(${stepColumnTypes})
       join own on own.id = n.orchestration_id
       where s.orchestration_id = n.orchestration_id and s.place = n.place and s.ended_at is null
     ), ended as (
       update chat.orchestrations o set status = g.status, ended_at = g.ended_at
       from given g join own on own.id = g.id
       where o.id = g.id and g.status is not null
     )
     select id from own`,
    [JSON.stringify(given), JSON.stringify(stepRows)],
  );
  return new Set(rows.map(({ id }) => id));
}

/** Ends an owner's orchestration now, with all its steps that have not; false when it had. */
export async function cancelOrchestration(
  sql: OrchestrationSql,
  { id, ownerId }: { readonly id: string; readonly ownerId: string },
  { error, at }: { readonly error: string; readonly at: Date },
): Promise<boolean> {
  const rows = await sql.query(
    `with own as (
       update chat.orchestrations set status = 'cancelled', ended_at = $3::timestamptz
       where id = $1 and owner_id = $2 and ended_at is null returning id
     ), steps as (
       update chat.orchestration_steps s set status = 'cancelled', ended_at = $3::timestamptz,
         error = $4
       from own where s.orchestration_id = own.id and s.ended_at is null
     )
     select id from own`,
    [id, ownerId, at, error],
  );
  return rows.length > 0;
}

/** What a replica's look at all that runs brought. */
export interface Held {
  /** All that it holds and may go on with, by id with their epochs. */
  readonly epochs: ReadonlyMap<string, number>;
  /** What it took over from dead replicas. */
  readonly taken: readonly StoredOrchestration[];
}

/** Renews a replica's leases, and takes over what nobody holds; all there is when it is alone. */
export async function holdOrchestrations(
  sql: OrchestrationSql,
  { replica, leaseMs, isAlone = false, countMax }: Hold,
): Promise<Held> {
  const rows = await sql.query<OrchestrationRow & { readonly is_taken: boolean }>(
    `with due as (
       select id, replica <> $1 as is_taken from chat.orchestrations
       where ended_at is null and (replica = $1 or $3 or lease_until < now())
       order by replica <> $1, id limit $4 for update skip locked
     ), held as (
       update chat.orchestrations o set replica = $1, lease_until = ${lease('$2')},
         epoch = o.epoch + case when due.is_taken then 1 else 0 end
       from due where o.id = due.id
       returning o.*, due.is_taken
     )
     select ${ownColumns}, o.is_taken, case when o.is_taken then ${steps} end as steps from held o`,
    [replica, leaseMs, isAlone, countMax],
  );
  return {
    epochs: new Map(rows.map(({ id, epoch }) => [id, epoch])),
    taken: rows.filter((row) => row.is_taken).map(toStored),
  };
}

/** Lets others take over at once what a replica that stops has not ended. */
export async function releaseOrchestrations(sql: OrchestrationSql, replica: string): Promise<void> {
  await sql.query(
    `update chat.orchestrations set lease_until = now() - interval '1 second'
     where id in (select id from chat.orchestrations
       where replica = $1 and ended_at is null order by id for update)`,
    [replica],
  );
}
