import type { Database } from '../../kit/database/database.ts';
import type { Batch, BatchItem, BatchStatus, FailureMode, ItemError, ItemStatus } from './batch.ts';

/** What the stores of batches need of a database. */
export type BatchSql = Pick<Database, 'query'>;

interface BatchRow {
  readonly id: string;
  readonly workflow_id: string;
  readonly version: number;
  readonly owner_id: string;
  readonly permissions: readonly string[];
  readonly status: BatchStatus;
  readonly concurrency: number;
  readonly failure_mode: FailureMode;
  readonly progress_callback: string | null;
  readonly total: number;
  readonly completed: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly skipped: number;
  readonly last_seq: number;
  readonly tokens_used: number;
  readonly cost: number;
  readonly epoch: number;
  readonly created_at: Date;
  readonly resumed_at: Date;
  readonly completed_at: Date | null;
}

/** Of `workflow.batches`, for `toBatch`; of the alias `b`. */
export const batchColumns = `b.id, b.workflow_id, b.version, b.owner_id, b.permissions, b.status,
  b.concurrency, b.failure_mode, b.progress_callback, b.total, b.completed, b.failed, b.cancelled, b.skipped,
  b.last_seq, b.tokens_used, b.cost, b.epoch, b.created_at, b.resumed_at, b.completed_at`;

/** A row of `batchColumns`. */
export function toBatch(row: BatchRow): Batch {
  return {
    id: row.id,
    workflowId: row.workflow_id,
    version: row.version,
    ownerId: row.owner_id,
    permissions: row.permissions,
    status: row.status,
    concurrency: row.concurrency,
    failureMode: row.failure_mode,
    progressCallback: row.progress_callback ?? undefined,
    total: row.total,
    completed: row.completed,
    failed: row.failed,
    cancelled: row.cancelled,
    skipped: row.skipped,
    lastSeq: row.last_seq,
    tokensUsed: row.tokens_used,
    cost: row.cost,
    epoch: row.epoch,
    createdAt: row.created_at,
    resumedAt: row.resumed_at,
    completedAt: row.completed_at ?? undefined,
  };
}
export type { BatchRow };

export interface NewBatch {
  readonly id: string;
  readonly workflowId: string;
  readonly version: number;
  readonly ownerId: string;
  readonly permissions: readonly string[];
  readonly idempotencyKey: string | undefined;
  readonly concurrency: number;
  readonly failureMode: FailureMode;
  /** Sealed. */
  readonly progressCallback: string | undefined;
  /** JSON texts, in their order. */
  readonly inputs: readonly string[];
  readonly now: Date;
  /** Of the owner's, that may be open with this one. */
  readonly openMax: number;
}

/**
 * Stores a batch with all its items in one statement. `exists` when the owner has one with this key,
 * `full` when too many of the owner's are open.
 */
export async function insertBatch(
  sql: BatchSql,
  batch: NewBatch,
): Promise<Batch | 'exists' | 'full'> {
  const [row] = await sql.query<Partial<BatchRow> & { open_count: number }>(
    `with open as (
       select count(*)::integer as count from workflow.batches
       where owner_id = $4 and completed_at is null
     ), b as (
       insert into workflow.batches (id, workflow_id, version, owner_id, idempotency_key, status,
         concurrency, failure_mode, progress_callback, total, created_at, resumed_at,
         permissions)
       select $1, $2, $3, $4, $5, 'processing', $6, $7, $8, cardinality($9::text[]),
         $10::timestamptz, $10::timestamptz, $12::text[]
       from open where open.count < $11
       on conflict (owner_id, idempotency_key) where idempotency_key is not null do nothing
       returning *
     ), items as (
       insert into workflow.batch_items (batch_id, index, inputs)
       select b.id, i.place - 1, i.inputs
       from b, unnest($9::text[]) with ordinality as i(inputs, place)
     )
     select open.count as open_count, ${batchColumns} from open left join b on true`,
    [
      batch.id,
      batch.workflowId,
      batch.version,
      batch.ownerId,
      batch.idempotencyKey,
      batch.concurrency,
      batch.failureMode,
      batch.progressCallback,
      batch.inputs,
      batch.now,
      batch.openMax,
      batch.permissions,
    ],
  );
  if (row?.id !== undefined && row.id !== null) return toBatch(row as BatchRow);
  return (row?.open_count ?? 0) >= batch.openMax ? 'full' : 'exists';
}

export async function readBatch(sql: BatchSql, id: string): Promise<Batch | undefined> {
  const [row] = await sql.query<BatchRow>(
    `select ${batchColumns} from workflow.batches b where b.id = $1`,
    [id],
  );
  return row && toBatch(row);
}

export async function readBatchByKey(
  sql: BatchSql,
  ownerId: string,
  idempotencyKey: string,
): Promise<Batch | undefined> {
  const [row] = await sql.query<BatchRow>(
    `select ${batchColumns} from workflow.batches b
     where b.owner_id = $1 and b.idempotency_key = $2`,
    [ownerId, idempotencyKey],
  );
  return row && toBatch(row);
}

export interface Page {
  readonly limit: number;
  readonly offset: number;
}

export interface BatchFilter {
  /** Everybody's when absent. */
  readonly ownerId?: string | undefined;
  readonly workflowId?: string | undefined;
  readonly status?: BatchStatus | undefined;
}

/** One page, the newest first, and how many there are. */
export async function listBatches(
  sql: BatchSql,
  { ownerId, workflowId, status }: BatchFilter,
  { limit, offset }: Page,
): Promise<{ readonly batches: Batch[]; readonly total: number }> {
  const where = `($1::text is null or b.owner_id = $1) and ($2::text is null or b.workflow_id = $2)
    and ($3::text is null or b.status = $3)`;
  const filter = [ownerId, workflowId, status];
  const rows = await sql.query<BatchRow>(
    `select ${batchColumns} from workflow.batches b where ${where}
     order by b.id desc limit $4 offset $5`,
    [...filter, limit, offset],
  );
  const [all] = await sql.query<{ total: number }>(
    `select count(*) as total from workflow.batches b where ${where}`,
    filter,
  );
  return { batches: rows.map(toBatch), total: all?.total ?? 0 };
}

interface ItemRow {
  readonly index: number;
  readonly status: ItemStatus;
  readonly execution_id: string | null;
  readonly error: string | null;
  readonly seq: number | null;
  readonly ended_at: Date | null;
}

const itemColumns = 'index, status, execution_id, error, seq, ended_at';

/** One page of a batch's items in the order of its inputs, and how many there are. */
export async function listItems(
  sql: BatchSql,
  { batchId, status }: { readonly batchId: string; readonly status: ItemStatus | undefined },
  { limit, offset }: Page,
): Promise<{ readonly items: BatchItem[]; readonly total: number }> {
  const where = 'batch_id = $1 and ($2::text is null or status = $2)';
  const rows = await sql.query<ItemRow>(
    `select ${itemColumns} from workflow.batch_items where ${where}
     order by index limit $3 offset $4`,
    [batchId, status, limit, offset],
  );
  const [all] = await sql.query<{ total: number }>(
    `select count(*) as total from workflow.batch_items where ${where}`,
    [batchId, status],
  );
  return { items: rows.map(toItem), total: all?.total ?? 0 };
}

/** Items whose end came after a seq and not after another, in the order of their ends. */
export async function listEnds(
  sql: BatchSql,
  batchId: string,
  { after, upTo, limit }: { readonly after: number; readonly upTo: number; readonly limit: number },
): Promise<BatchItem[]> {
  const rows = await sql.query<ItemRow>(
    `select ${itemColumns} from workflow.batch_items
     where batch_id = $1 and seq > $2 and seq <= $3 order by seq limit $4`,
    [batchId, after, upTo, limit],
  );
  return rows.map(toItem);
}

function toItem(row: ItemRow): BatchItem {
  return {
    index: row.index,
    status: row.status,
    executionId: row.execution_id ?? undefined,
    // Written by this area.
    error: row.error === null ? undefined : (JSON.parse(row.error) as ItemError),
    seq: row.seq ?? undefined,
    endedAt: row.ended_at ?? undefined,
  };
}
