import { Type } from 'typebox';
import type { Route, SocketRoute } from '../../kit/contract.ts';
import { subscribeFields } from '../../kit/sockets/subscription.ts';
import { pageAnswer, pageQuery } from '../../kit/paging.ts';
import { batchStatuses, itemStatuses } from '../batches/batch.ts';
import { mayExecute, mayFollow } from './access.ts';
import { batchId, executionId, workflowId } from './ids.ts';

/** Items of one batch. */
const itemsMax = 10_000;
const bodyBytesMax = 32 * 1024 * 1024;

const timestamp = Type.String({ format: 'date-time' });
const batchRequest = Type.Object(
  {
    inputs: Type.Array(Type.Object({}, { additionalProperties: true }), {
      minItems: 1,
      maxItems: itemsMax,
      description: 'the `inputs` of one execution each',
    }),
    options: Type.Optional(
      Type.Object({
        concurrency: Type.Optional(
          Type.Integer({
            minimum: 1,
            maximum: 50,
            default: 5,
            description: 'how many items run at once',
          }),
        ),
        failureMode: Type.Optional(
          Type.Enum(['continue', 'stop'], {
            default: 'continue',
            description:
              '`continue` runs all items whatever fails; `stop` cancels what runs at the first failure and skips the rest',
          }),
        ),
        progressCallback: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: 2_048,
            description:
              'is POSTed the batch’s state at most once a second, and at its end, signed by `X-Ennead-Signature` with the workflow’s secret',
          }),
        ),
      }),
    ),
  },
  { $id: 'BatchRequest' },
);

const progress = Type.Object({
  completed: Type.Integer(),
  failed: Type.Integer(),
  pending: Type.Integer({ description: 'not ended, those that run included' }),
  cancelled: Type.Integer(),
  skipped: Type.Integer({ description: 'never run, because an earlier item failed' }),
});

const batchStatus = Type.Enum(batchStatuses, {
  description:
    '`completed` also with failed items, and when one of them stopped the rest (`progress.skipped`)',
});

const batch = Type.Object(
  {
    batchId: Type.String(),
    workflowId: Type.String(),
    version: Type.Integer({ description: 'of the workflow, for all items' }),
    status: batchStatus,
    totalItems: Type.Integer(),
    progress,
    options: Type.Object({
      concurrency: Type.Integer(),
      failureMode: Type.Enum(['continue', 'stop']),
    }),
    tokensUsed: Type.Integer(),
    cost: Type.Number({ description: 'US dollars' }),
    createdAt: timestamp,
    completedAt: Type.Optional(timestamp),
    duration: Type.Optional(Type.Integer({ description: 'milliseconds' })),
    monitorUrl: Type.String({ description: 'of the WebSocket' }),
  },
  { $id: 'Batch' },
);

const itemError = Type.Object({
  nodeId: Type.Optional(Type.String()),
  attempt: Type.Optional(Type.Integer()),
  message: Type.String(),
  code: Type.String({ description: 'upper snake case' }),
});

const item = Type.Object(
  {
    index: Type.Integer({ description: 'in `inputs`, from 0' }),
    status: Type.Enum(itemStatuses),
    executionId: Type.Optional(Type.String()),
    error: Type.Optional(itemError),
    completedAt: Type.Optional(timestamp),
  },
  { $id: 'BatchItem' },
);

const delivery = Type.Object(
  {
    id: Type.String({ description: 'what receivers see as `X-Ennead-Delivery`' }),
    event: Type.String(),
    origin: Type.String({ description: 'of the address; the rest of it is not shown' }),
    status: Type.Enum(['pending', 'delivered', 'failed', 'superseded']),
    attempts: Type.Integer(),
    createdAt: timestamp,
    nextAttemptAt: Type.Optional(timestamp),
    deliveredAt: Type.Optional(timestamp),
    answer: Type.Optional(Type.Integer({ description: 'the HTTP status of the last answer' })),
    error: Type.Optional(Type.String()),
  },
  { $id: 'CallbackDelivery' },
);
const deliveries = Type.Object({ callbacks: Type.Array(delivery) });

/** Many executions of one workflow, and what was told to callers. */
export const batchRoutes = {
  startBatch: {
    method: 'POST',
    url: '/api/v1/workflows/:workflowId/batch',
    summary: 'Run a workflow for many inputs',
    description:
      'Answers as soon as the batch is stored: it runs to its end whatever dies meanwhile, and no item is started twice. With `Idempotency-Key` the same request answers the first batch.',
    permission: mayExecute,
    bodyBytesMax,
    schema: {
      params: Type.Object({ workflowId }),
      body: batchRequest,
      response: { 202: batch },
    },
  },
  listBatches: {
    method: 'GET',
    url: '/api/v1/batches',
    summary: 'List your batches',
    permission: mayFollow,
    schema: {
      query: Type.Object({
        workflowId: Type.Optional(workflowId),
        status: Type.Optional(
          Type.Enum(batchStatuses, { description: 'only batches that stand so' }),
        ),
        ...pageQuery(),
      }),
      response: {
        200: Type.Object({
          batches: Type.Array(batch),
          ...pageAnswer,
        }),
      },
    },
  },
  readBatch: {
    method: 'GET',
    url: '/api/v1/batches/:batchId',
    summary: 'Read how a batch stands',
    permission: mayFollow,
    schema: { params: Type.Object({ batchId }), response: { 200: batch } },
  },
  listBatchItems: {
    method: 'GET',
    url: '/api/v1/batches/:batchId/items',
    summary: 'List what came of the items',
    permission: mayFollow,
    schema: {
      params: Type.Object({ batchId }),
      query: Type.Object({
        status: Type.Optional(Type.Enum(itemStatuses, { description: 'only items that stand so' })),
        ...pageQuery(),
      }),
      response: {
        200: Type.Object({
          items: Type.Array(item),
          ...pageAnswer,
        }),
      },
    },
  },
  cancelBatch: {
    method: 'POST',
    url: '/api/v1/batches/:batchId/cancel',
    summary: 'Cancel a batch',
    description:
      'What runs is cancelled, the rest never starts. `cancelling` while that is under way. 409 `ALREADY_ENDED`.',
    permission: mayExecute,
    schema: { params: Type.Object({ batchId }), response: { 200: batch } },
  },
  resumeBatch: {
    method: 'POST',
    url: '/api/v1/batches/:batchId/resume',
    summary: 'Run again the items that did not complete',
    description:
      'Failed and cancelled items go on from the node that failed; skipped ones begin. 409 `NOT_RESUMABLE`.',
    permission: mayExecute,
    schema: { params: Type.Object({ batchId }), response: { 202: batch } },
  },
  listBatchCallbacks: {
    method: 'GET',
    url: '/api/v1/batches/:batchId/callbacks',
    summary: 'List what a batch’s callback was sent',
    permission: mayFollow,
    schema: { params: Type.Object({ batchId }), response: { 200: deliveries } },
  },
  listExecutionCallbacks: {
    method: 'GET',
    url: '/api/v1/executions/:executionId/callbacks',
    summary: 'List what an execution’s callbacks were sent',
    permission: mayFollow,
    schema: {
      params: Type.Object({
        executionId,
      }),
      response: { 200: deliveries },
    },
  },
} as const satisfies Readonly<Record<string, Route>>;

const batchEvent = Type.Object(
  {
    type: Type.Enum(['item-completed', 'item-failed', 'batch-progress', 'batch-completed']),
    batchId: Type.String(),
    timestamp,
    seq: Type.Integer({
      description:
        'of `batch-progress`: of the last item that it counts; it is not part of a replay',
    }),
    index: Type.Optional(Type.Integer()),
    executionId: Type.Optional(Type.String()),
    status: Type.Optional(
      Type.String({
        description: 'of a failed item: `failed` or `cancelled`; of a batch: its own',
      }),
    ),
    error: Type.Optional(itemError),
    totalItems: Type.Optional(Type.Integer()),
    progress: Type.Optional(progress),
    duration: Type.Optional(Type.Integer({ description: 'milliseconds' })),
  },
  { $id: 'BatchEvent' },
);

/** What happens to a batch. */
export const batchSockets = {
  batch: {
    url: '/api/v1/batches/:batchId/stream',
    summary: 'Follow a batch: from its start, or behind `after` in the query',
    permission: mayFollow,
    subscribe: Type.Object(subscribeFields),
    event: batchEvent,
  },
} as const satisfies Readonly<Record<string, SocketRoute>>;
