import type { Batch, BatchStatus, ItemEnd, ItemTask } from './batch.ts';
import { batchColumns, toBatch, type BatchRow, type BatchSql } from './batch-store.ts';

export interface ClaimOptions {
  readonly now: Date;
  readonly leaseMs: number;
  readonly countMax: number;
  /** Nobody else runs batches on this database: what is leased was left by a dead process. */
  readonly takesLeased: boolean;
}

/** Takes batches that nobody runs, the oldest first; of several replicas one gets each. */
export async function claimBatches(
  sql: BatchSql,
  { now, leaseMs, countMax, takesLeased }: ClaimOptions,
): Promise<Batch[]> {
  const rows = await sql.query<BatchRow>(
    `with free as (
       select id from workflow.batches
       where completed_at is null
         and ($4 or lease_until is null or lease_until <= $1::timestamptz)
       order by id limit $3 for update skip locked)
     update workflow.batches b set lease_until = $2::timestamptz, epoch = b.epoch + 1
     from free where b.id = free.id
     returning ${batchColumns}`,
    [now, new Date(now.getTime() + leaseMs), countMax, takesLeased],
  );
  return rows.map(toBatch);
}

/** Prolongs the leases of this process's batches; answers those that are still its own. */
export function renewLeases(
  sql: BatchSql,
  batches: readonly { readonly id: string; readonly epoch: number }[],
  until: Date,
): Promise<{ id: string; epoch: number; status: BatchStatus }[]> {
  return sql.query(
    `update workflow.batches b set lease_until = $2::timestamptz
     from json_to_recordset($1::json) as own(id text, epoch integer)
     where b.id = own.id and b.epoch = own.epoch and b.completed_at is null
     returning b.id, b.epoch, b.status`,
    [JSON.stringify(batches.map(({ id, epoch }) => ({ id, epoch }))), until],
  );
}

/** Gives batches back, so that others need not wait for the end of the lease. */
export async function releaseLeases(
  sql: BatchSql,
  batches: readonly { readonly id: string; readonly epoch: number }[],
): Promise<void> {
  await sql.query(
    `update workflow.batches b set lease_until = null
     from json_to_recordset($1::json) as own(id text, epoch integer)
     where b.id = own.id and b.epoch = own.epoch`,
    [JSON.stringify(batches.map(({ id, epoch }) => ({ id, epoch })))],
  );
}

interface TaskRow {
  readonly index: number;
  readonly inputs: string;
}

/** What an earlier owner had begun: at most as many as the batch's concurrency. */
export async function readRunning(sql: BatchSql, batchId: string): Promise<ItemTask[]> {
  const rows = await sql.query<TaskRow>(
    `select index, inputs from workflow.batch_items
     where batch_id = $1 and status = 'running' order by index`,
    [batchId],
  );
  return rows.map(toTask);
}

/** One step of a batch. */
export interface Step {
  readonly id: string;
  readonly epoch: number;
  readonly now: Date;
  /** Items whose executions are stored. */
  readonly started: readonly { readonly index: number; readonly executionId: string }[];
  readonly ended: readonly ItemEnd[];
  /** How many more items are to be run. */
  readonly take: number;
  /** The last item that was taken: those behind it are next. */
  readonly after: number;
}

/**
 * Writes what happened and takes the next items, all in one statement: an item is `running` in the
 * database before its execution is started, and its end counts once, however often it is written. Undefined, and nothing is written, when the batch is
 * somebody else's by now.
 */
export async function advance(
  sql: BatchSql,
  step: Step,
): Promise<{ readonly batch: Batch; readonly next: readonly ItemTask[] } | undefined> {
  const { id, epoch, now, started, ended, take, after } = step;
  const [row] = await sql.query<BatchRow & { next: readonly TaskRow[] | null }>(
    `with ends as (
       select e.*, row_number() over (order by e.place) as nth
       from json_to_recordset($3::json) as e(index integer, place integer, status text,
         execution_id text, error text, tokens_used bigint, cost double precision)
       join workflow.batch_items i on i.batch_id = $1 and i.index = e.index and i.status = 'running'
     ), sums as (
       select count(*) filter (where status = 'completed') as completed,
         count(*) filter (where status = 'failed') as failed,
         count(*) filter (where status = 'cancelled') as cancelled, count(*) as all,
         coalesce(sum(tokens_used), 0) as tokens_used, coalesce(sum(cost), 0) as cost
       from ends
     ), b as (
       update workflow.batches b set completed = b.completed + sums.completed,
         failed = b.failed + sums.failed, cancelled = b.cancelled + sums.cancelled,
         last_seq = b.last_seq + sums.all, tokens_used = b.tokens_used + sums.tokens_used,
         cost = b.cost + sums.cost
       from sums
       where b.id = $1 and b.epoch = $2 and b.completed_at is null
       returning b.*, sums.all as ended_count
     ), begun as (
       update workflow.batch_items i set execution_id = s.execution_id
       from b, json_to_recordset($4::json) as s(index integer, execution_id text)
       where i.batch_id = b.id and i.index = s.index and i.status = 'running'
     ), closed as (
       update workflow.batch_items i set status = e.status,
         execution_id = coalesce(e.execution_id, i.execution_id), error = e.error,
         seq = b.last_seq - b.ended_count + e.nth, ended_at = $5::timestamptz
       from b, ends e where i.batch_id = b.id and i.index = e.index
     ), taken as (
       update workflow.batch_items i set status = 'running'
       from b
       where i.batch_id = b.id and b.status = 'processing' and i.index in (
         select index from workflow.batch_items
         where batch_id = $1 and status = 'pending' and index > $7 order by index limit $6)
       returning i.index, i.inputs
     )
     select ${batchColumns},
       (select json_agg(json_build_object('index', t.index, 'inputs', t.inputs) order by t.index)
        from taken t) as next
     from b`,
    [
      id,
      epoch,
      JSON.stringify(ended.map((end, at) => toEndRow(end, at + 1))),
      JSON.stringify(withoutEnded(started, ended)),
      now,
      take,
      after,
    ],
  );
  return row && { batch: toBatch(row), next: (row.next ?? []).map(toTask) };
}

/** The batch's own end; what never ran becomes `rest`. Undefined when it is somebody else's by now. */
export async function closeBatch(
  sql: BatchSql,
  { id, epoch }: { readonly id: string; readonly epoch: number },
  end: { readonly status: BatchStatus; readonly rest: 'skipped' | 'cancelled'; readonly now: Date },
): Promise<Batch | undefined> {
  const [row] = await sql.query<BatchRow>(
    `with own as (
       select id from workflow.batches
       where id = $1 and epoch = $2 and completed_at is null for update
     ), left_over as (
       update workflow.batch_items i set status = $4
       from own where i.batch_id = own.id and i.status = 'pending'
       returning 1
     )
     update workflow.batches b set status = $3, completed_at = $5::timestamptz, lease_until = null,
       last_seq = b.last_seq + 1,
       skipped = b.skipped + case when $4 = 'skipped' then (select count(*) from left_over) else 0 end,
       cancelled = b.cancelled
         + case when $4 = 'cancelled' then (select count(*) from left_over) else 0 end
     from own where b.id = own.id
     returning ${batchColumns}`,
    [id, epoch, end.status, end.rest, end.now],
  );
  return row && toBatch(row);
}

/** An item whose execution was completed after all: it counts as completed in place of what it was. */
export async function completeItem(
  sql: BatchSql,
  item: { readonly batchId: string; readonly index: number; readonly executionId: string },
  now: Date,
): Promise<void> {
  await sql.query(
    `with item as (
       select index, status from workflow.batch_items
       where batch_id = $1 and index = $2 and execution_id = $3 and status in ('failed', 'cancelled')
       for update
     ), completed as (
       update workflow.batch_items i set status = 'completed', error = null,
         ended_at = $4::timestamptz
       from item where i.batch_id = $1 and i.index = item.index
     )
     update workflow.batches b set completed = b.completed + 1,
       failed = b.failed - case when item.status = 'failed' then 1 else 0 end,
       cancelled = b.cancelled - case when item.status = 'cancelled' then 1 else 0 end
     from item where b.id = $1`,
    [item.batchId, item.index, item.executionId, now],
  );
}

/** Asks the owner to cancel; undefined when the batch has ended. */
export async function requestCancel(sql: BatchSql, id: string): Promise<Batch | undefined> {
  const [row] = await sql.query<BatchRow>(
    `update workflow.batches b set status = 'cancelling'
     where b.id = $1 and b.completed_at is null returning ${batchColumns}`,
    [id],
  );
  return row && toBatch(row);
}

/** Opens a batch anew for what did not complete; undefined when it is open or all completed. */
export async function reopenBatch(
  sql: BatchSql,
  id: string,
  now: Date,
): Promise<Batch | undefined> {
  const [row] = await sql.query<BatchRow>(
    `with again as (
       select id from workflow.batches
       where id = $1 and completed_at is not null and completed < total for update
     ), items as (
       update workflow.batch_items i set status = 'pending', error = null, seq = null,
         ended_at = null
       from again where i.batch_id = again.id and i.status in ('failed', 'cancelled', 'skipped')
     )
     update workflow.batches b set status = 'processing', completed_at = null, failed = 0,
       cancelled = 0, skipped = 0, resumed_at = $2::timestamptz, lease_until = null,
       epoch = b.epoch + 1
     from again where b.id = again.id
     returning ${batchColumns}`,
    [id, now],
  );
  return row && toBatch(row);
}

/** One statement changes a row once only. */
function withoutEnded(started: Step['started'], ended: readonly ItemEnd[]) {
  const gone = new Set(ended.map(({ index }) => index));
  return started
    .filter(({ index }) => !gone.has(index))
    .map(({ index, executionId }) => ({ index, execution_id: executionId }));
}

function toEndRow(end: ItemEnd, place: number) {
  const { index, status, executionId, error, tokensUsed, cost } = end;
  return {
    index,
    place,
    status,
    tokens_used: tokensUsed,
    cost,
    execution_id: executionId ?? null,
    error: error ? JSON.stringify(error) : null,
  };
}

function toTask({ index, inputs }: TaskRow): ItemTask {
  // Written by this area, of an object.
  return { index, inputs: JSON.parse(inputs) as ItemTask['inputs'] };
}
