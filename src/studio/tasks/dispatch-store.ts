import type { StoredTask } from './stored-task.ts';
import { taskColumns, toTask, type TaskRow } from './task-row.ts';
import type { TaskSql } from './task-store.ts';

/** What the dispatcher has made of a task. */
export type TaskState = Pick<
  StoredTask,
  | 'id'
  | 'version'
  | 'status'
  | 'assignedAgent'
  | 'agentRestarts'
  | 'attempt'
  | 'runId'
  | 'startedAtMs'
  | 'endedAtMs'
  | 'result'
  | 'artefacts'
  | 'failure'
>;

/**
 * Makes a replica the dispatcher, or keeps it so; undefined while another one is. The epoch rises with
 * each new dispatcher. One that is alone on its database need not wait for the lease of a dead one.
 */
export async function lead(
  sql: TaskSql,
  replica: string,
  { leaseMs, isAlone }: { readonly leaseMs: number; readonly isAlone: boolean },
): Promise<{ readonly epoch: number; readonly openCount: number } | undefined> {
  const [row] = await sql.query<{ epoch: number; open: number }>(
    `insert into studio.task_dispatcher as d (id, replica, epoch, lease_until)
     values (1, $1, 1, now() + make_interval(secs => $2::float8 / 1000))
     on conflict (id) do update set replica = excluded.replica, lease_until = excluded.lease_until,
       epoch = d.epoch + case when d.replica = excluded.replica then 0 else 1 end
     where d.replica = excluded.replica or d.lease_until <= now() or $3
     returning epoch, (select count(*) from studio.tasks where ended_at is null) as open`,
    [replica, leaseMs, isAlone],
  );
  return row && { epoch: row.epoch, openCount: row.open };
}

/** Lets another replica be the dispatcher at once. */
export async function stopLeading(sql: TaskSql, replica: string): Promise<void> {
  await sql.query(`update studio.task_dispatcher set lease_until = now() where replica = $1`, [
    replica,
  ]);
}

/**
 * Writes states of tasks that have not ended, all under one epoch; what was written, with input where a
 * task was assigned. Nothing is when another replica is the dispatcher by now.
 */
export async function writeStates(
  sql: TaskSql,
  epoch: number,
  states: readonly TaskState[],
): Promise<ReadonlyMap<string, StoredTask>> {
  const columns = taskColumns.replace(
    't.input',
    "case g.status when 'assigned' then t.input else '{}' end as input",
  );
  const rows = await sql.query<TaskRow>(
    `update studio.tasks t set version = g.version, status = g.status,
       assigned_agent = g."assignedAgent", agent_restarts = g."agentRestarts", attempt = g.attempt,
       run_id = g."runId", result = g.result, artefacts = g.artefacts, failure = g.failure,
       started_at = to_timestamp(g."startedAtMs" / 1000),
       ended_at = to_timestamp(g."endedAtMs" / 1000)
     from json_to_recordset($2::json) as g(id text, version integer, status text,
       "assignedAgent" text, "agentRestarts" integer, attempt integer, "runId" text, result text,
       artefacts text, failure text, "startedAtMs" float8, "endedAtMs" float8)
     where t.id = g.id and t.ended_at is null
       and exists (select from studio.task_dispatcher where epoch = $1)
     returning ${columns}`,
    [epoch, JSON.stringify(states.map(toWrite))],
  );
  return new Map(rows.map((row) => [row.id, toTask(row)]));
}

function toWrite({ result, artefacts, failure, ...state }: TaskState) {
  return {
    ...state,
    ...(result && { result: JSON.stringify(result) }),
    ...(artefacts && { artefacts: JSON.stringify(artefacts) }),
    ...(failure && { failure: JSON.stringify(failure) }),
  };
}
