import {
  executionColumns,
  toStored,
  type ExecutionRow,
  type StoredExecution,
} from './execution-row.ts';
import type { ExecutionEvent, ExecutionStatus, SignalAnswer } from '../execution.ts';
import type { Outcome } from './journal-row.ts';
import type { EngineSql } from './journal-store.ts';

export async function readExecution(
  sql: EngineSql,
  executionId: string,
): Promise<StoredExecution | undefined> {
  const [row] = await sql.query<ExecutionRow>(
    `select ${executionColumns} from workflow.executions where id = $1`,
    [executionId],
  );
  return row && toStored(row);
}

export async function readExecutionByKey(
  sql: EngineSql,
  ownerId: string,
  idempotencyKey: string,
): Promise<StoredExecution | undefined> {
  const [row] = await sql.query<ExecutionRow>(
    `select ${executionColumns} from workflow.executions
     where owner_id = $1 and idempotency_key = $2`,
    [ownerId, idempotencyKey],
  );
  return row && toStored(row);
}

/** Which executions a listing holds. */
export interface ExecutionFilter {
  /** Absent: everybody's. */
  readonly ownerId?: string;
  readonly workflowId?: string;
  readonly batchId?: string;
  readonly statuses?: readonly ExecutionStatus[];
  /** Of the node that started them from within another execution. */
  readonly parent?: Omit<SignalPlace, 'childId'>;
}

/** Newest first, with the number of all that match. */
export async function listExecutions(
  sql: EngineSql,
  filter: ExecutionFilter,
  page: { readonly limit: number; readonly offset: number },
): Promise<{ readonly executions: StoredExecution[]; readonly total: number }> {
  const { ownerId, workflowId, batchId, statuses, parent } = filter;
  const values: unknown[] = [];
  const conditions = ['true'];
  const add = (value: unknown, condition: (place: string) => string): void => {
    if (value === undefined) return;
    values.push(value);
    conditions.push(condition(`$${values.length}`));
  };
  add(ownerId, (place) => `owner_id = ${place}`);
  add(workflowId, (place) => `workflow_id = ${place}`);
  add(batchId, (place) => `batch_id = ${place}`);
  add(statuses, (place) => `status = any(${place}::text[])`);
  add(parent?.executionId, (place) => `parent_id = ${place}`);
  add(parent?.nodeId, (place) => `request::json->'parent'->>'nodeId' = ${place}`);
  add(parent?.iteration, (place) => `request::json->'parent'->>'iteration' = ${place}`);
  const where = conditions.join(' and ');
  const [counted] = await sql.query<{ total: number }>(
    `select count(*) as total from workflow.executions where ${where}`,
    values,
  );
  const rows = await sql.query<ExecutionRow>(
    `select ${executionColumns} from workflow.executions where ${where}
     order by id desc limit $${values.length + 1} offset $${values.length + 2}`,
    [...values, page.limit, page.offset],
  );
  return { executions: rows.map(toStored), total: counted?.total ?? 0 };
}

/** What is read of events at a time: as much as is parsed in a few milliseconds. */
const eventBytes = 256 * 1024;
const eventWritesMax = 1_000;

/** The next events behind a seq without the outputs of their nodes, oldest first; none at the end. */
export async function readEvents(
  sql: EngineSql,
  executionId: string,
  after: number,
): Promise<Omit<ExecutionEvent, 'executionId'>[]> {
  const rows = await sql.query<{ body: string }>(
    `select body from (
       select seq, body, sum(octet_length(body)) over (order by seq) - octet_length(body) as before
       from (select seq, body from workflow.execution_events where execution_id = $1 and seq > $2
         order by seq limit $3) next) sized
     where before < $4 order by seq`,
    [executionId, after, eventWritesMax, eventBytes],
  );
  // Written by the journal.
  const events = rows.flatMap(
    ({ body }) => JSON.parse(body) as Omit<ExecutionEvent, 'executionId'>[],
  );
  return events.filter(({ seq }) => seq > after);
}

/** The seq of the newest event, by execution. */
export async function readLastSeqs(
  sql: EngineSql,
  executionIds: readonly string[],
): Promise<Map<string, number>> {
  const rows = await sql.query<{ id: string; seq: number }>(
    `select execution_id as id, max(seq) as seq from workflow.execution_events
     where execution_id = any($1::text[]) group by execution_id`,
    [executionIds],
  );
  return new Map(rows.map(({ id, seq }) => [id, seq]));
}

/** Events from the first further attempt of a node on, oldest first, by execution; of none without any. */
export async function readRetries(
  sql: EngineSql,
  executionIds: readonly string[],
): Promise<Map<string, Omit<ExecutionEvent, 'executionId'>[]>> {
  const byExecution = new Map<string, Omit<ExecutionEvent, 'executionId'>[]>();
  if (executionIds.length === 0) return byExecution;
  const rows = await sql.query<{ id: string; body: string }>(
    `select e.execution_id as id, e.body from workflow.execution_events e
     join (select execution_id, min(seq) as seq from workflow.execution_events
       where execution_id = any($1::text[]) and strpos(body, '"node-retrying"') > 0
       group by execution_id) f on f.execution_id = e.execution_id and e.seq >= f.seq
     order by e.seq`,
    [executionIds],
  );
  for (const { id, body } of rows) {
    const events = byExecution.get(id) ?? [];
    // Written by the journal.
    events.push(...(JSON.parse(body) as Omit<ExecutionEvent, 'executionId'>[]));
    byExecution.set(id, events);
  }
  return byExecution;
}

/** Takes queued executions, the oldest first; nobody else gets the same. */
export async function claimExecutions(
  sql: EngineSql,
  replica: string,
  countMax: number,
): Promise<StoredExecution[]> {
  const rows = await sql.query<ExecutionRow>(
    `with free as (
       select id as free_id from workflow.executions
       where status = 'queued' and completed_at is null
       order by id limit $2 for update skip locked)
     update workflow.executions set status = 'running', replica = $1, epoch = epoch + 1,
       wake_at = null
     from free where id = free_id
     returning ${executionColumns}`,
    [replica, countMax],
  );
  return rows.map(toStored).toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

/** Gives executions of this replica back to the queue. */
export async function releaseExecutions(
  sql: EngineSql,
  executions: readonly { readonly id: string; readonly epoch: number }[],
): Promise<void> {
  await sql.query(
    `update workflow.executions e set status = 'queued', replica = null, epoch = e.epoch + 1
     from json_to_recordset($1::json) as g(id text, epoch integer)
     where e.id = g.id and e.epoch = g.epoch and e.status = 'running'`,
    [JSON.stringify(executions.map(({ id, epoch }) => ({ id, epoch })))],
  );
}

/** Ends an execution that has not ended; undefined when it has. Its end is the last event. */
export async function cancelExecution(
  sql: EngineSql,
  executionId: string,
  {
    by,
    nowMs,
    tellAtMs,
  }: { readonly by: string; readonly nowMs: number; readonly tellAtMs: number },
): Promise<{ readonly stored: StoredExecution; readonly event: ExecutionEvent } | undefined> {
  const outcome: Outcome = { cancelledBy: by };
  const timestamp = new Date(nowMs).toISOString();
  const rows = await sql.query<ExecutionRow & { seq: number }>(
    `with ended as (
       update workflow.executions set status = 'cancelled', replica = null, epoch = epoch + 1,
         completed_at = $2::timestamptz, outcome = $3, caller_token = null, wake_at = null,
         tell_at = $4::timestamptz
       where id = $1 and completed_at is null returning ${executionColumns}
     ), nodes as (
       update workflow.node_runs set status = 'cancelled'
       where execution_id in (select id from ended) and status in ('waiting', 'signalled', 'open')
     ), told as (
       insert into workflow.execution_events (execution_id, seq, body)
       select id, next.seq, json_build_array(json_build_object('type', 'workflow-cancelled',
         'timestamp', $5::text, 'seq', next.seq))::text
       from ended, (select coalesce(max(seq), 0) + 1 as seq from workflow.execution_events
         where execution_id = $1) next
       returning seq
     )
     select ended.*, told.seq from ended, told`,
    [executionId, new Date(nowMs), JSON.stringify(outcome), new Date(tellAtMs), timestamp],
  );
  const [row] = rows;
  if (!row) return undefined;
  const event = { type: 'workflow-cancelled', executionId, timestamp, seq: row.seq } as const;
  return { stored: toStored(row), event };
}

/** Where an answer goes. */
export interface SignalPlace {
  readonly executionId: string;
  readonly nodeId: string;
  readonly iteration: string;
  /** Of an answer by an execution within: taken only by a node that waits for this very one. */
  readonly childId?: string;
}

/**
 * Answers a parked node once: false when nothing waits there. Every signal is counted at the execution,
 * so that a run that parks meanwhile finds that it has to look again.
 */
export async function signalNode(
  sql: EngineSql,
  at: SignalPlace,
  answer: SignalAnswer,
): Promise<boolean> {
  const rows = await sql.query(
    `with counted as (
       update workflow.executions e set signals = signals + 1,
         status = case when status = 'waiting' then 'queued' else status end
       where id = $1 and completed_at is null and exists (
         select from workflow.node_runs n where n.execution_id = e.id and n.node_id = $2
           and n.iteration = $3 and n.status = 'waiting'
           and ($5::text is null or strpos(n.body, $5) > 0))
       returning id
     )
     update workflow.node_runs set status = 'signalled', output = $4
     where execution_id in (select id from counted) and node_id = $2 and iteration = $3
       and status = 'waiting'
     returning node_id`,
    [at.executionId, at.nodeId, at.iteration, JSON.stringify(answer), at.childId ?? null],
  );
  return rows.length > 0;
}
