import { Fault } from '../../kit/errors.ts';
import type { Handler } from '../../kit/http/call.ts';
import type { Identity } from '../../kit/identity/identity.ts';
import { allows } from '../../kit/permissions.ts';
import type { Connection, SocketRequest } from '../../kit/sockets/connection.ts';
import { toBatchAnswer, toItemAnswer } from '../batches/answers.ts';
import type { Batch } from '../batches/batch.ts';
import type { Asker, Batches } from '../batches/batches.ts';
import type { Callbacks } from '../callbacks/callbacks.ts';
import type { Delivery } from '../callbacks/callback.ts';
import type { Engine } from '../engine/execution.ts';
import type { batchRoutes as routes, batchSockets } from '../schemas/batches.ts';
import { serveBatch } from './batch-stream.ts';
import { hidingDrafts } from './starts.ts';

type BatchHandlers = { readonly [K in keyof typeof routes]: Handler<(typeof routes)[K]> };

export interface BatchHandlerParts {
  readonly batches: Batches;
  readonly callbacks: Pick<Callbacks, 'deliveriesOf'>;
  readonly engine: Pick<Engine, 'find'>;
  /** Throws `not_found` for a workflow that somebody does not see. */
  readonly requireShown: (workflowId: string, identity: Identity) => Promise<unknown>;
  /** Where a batch's stream is. */
  readonly monitorUrlOf: (batchId: string) => string;
}

/** The edge of batches and callbacks. */
export function batchHandlers(parts: BatchHandlerParts): BatchHandlers {
  const { batches, callbacks, engine, monitorUrlOf, requireShown } = parts;
  const answer = (batch: Batch) => toBatchAnswer(batch, monitorUrlOf(batch.id));
  return {
    startBatch: async ({ params, body, identity, headers }) => {
      const { concurrency = 5, failureMode = 'continue', progressCallback } = body.options ?? {};
      const { workflowId } = params;
      const request = {
        workflowId,
        ownerId: identity.subject,
        permissions: identity.permissions,
        // The schema says that each is an object.
        inputs: body.inputs as readonly Readonly<Record<string, unknown>>[],
        concurrency,
        failureMode: failureMode === 'stop' ? 'stop' : 'continue',
        progressCallback,
        idempotencyKey: keyOf(headers['idempotency-key']),
      } as const;
      const batch = await hidingDrafts(
        () => batches.create(request),
        () => requireShown(workflowId, identity),
      );
      return answer(batch);
    },
    listBatches: async ({ query, identity }) => {
      const { limit, offset, workflowId, status } = query;
      const found = await batches.list({ workflowId, status }, askerOf(identity), {
        limit,
        offset,
      });
      return { batches: found.batches.map(answer), total: found.total, limit, offset };
    },
    readBatch: async ({ params, identity }) =>
      answer(await batches.read(params.batchId, askerOf(identity))),
    listBatchItems: async ({ params, query, identity }) => {
      const { limit, offset, status } = query;
      await batches.read(params.batchId, askerOf(identity));
      const found = await batches.items(params.batchId, status, { limit, offset });
      return { items: found.items.map(toItemAnswer), total: found.total, limit, offset };
    },
    cancelBatch: async ({ params, identity }) =>
      answer(await batches.cancel(params.batchId, askerOf(identity))),
    resumeBatch: async ({ params, identity }) =>
      answer(await batches.resume(params.batchId, askerOf(identity))),
    listBatchCallbacks: async ({ params, identity }) => {
      await batches.read(params.batchId, askerOf(identity));
      return listing(await callbacks.deliveriesOf(params.batchId));
    },
    listExecutionCallbacks: async ({ params, identity }) => {
      const execution = await engine.find(params.executionId);
      const { subject, isAdmin } = askerOf(identity);
      if (!execution || (execution.ownerId !== subject && !isAdmin)) {
        const reason = 'execution_not_found';
        throw new Fault('not_found', 'there is no such execution', { reason });
      }
      return listing(await callbacks.deliveriesOf(params.executionId));
    },
  };
}

/** The stream of a batch; everybody else's is not there. */
export function batchSocketHandlers({ batches }: Pick<BatchHandlerParts, 'batches'>) {
  return {
    batch: {
      admit: async ({ params, identity }: SocketRequest<typeof batchSockets.batch>) => {
        await batches.read(params.batchId, askerOf(identity));
      },
      serve: (connection: Connection<typeof batchSockets.batch>): void => {
        serveBatch(connection, batches);
      },
    },
  };
}

function listing(deliveries: readonly Delivery[]) {
  return {
    callbacks: deliveries.map((one) => ({
      id: one.id,
      event: one.event,
      origin: one.origin,
      status: one.status,
      attempts: one.attempts,
      createdAt: one.createdAt.toISOString(),
      ...(one.status === 'pending' ? { nextAttemptAt: one.dueAt.toISOString() } : {}),
      ...(one.deliveredAt ? { deliveredAt: one.deliveredAt.toISOString() } : {}),
      ...(one.answer === undefined ? {} : { answer: one.answer }),
      ...(one.error === undefined ? {} : { error: one.error }),
    })),
  };
}

function askerOf({ subject, permissions }: Identity): Asker {
  return { subject, isAdmin: allows(permissions, 'workflow:admin') };
}

function keyOf(header: string | readonly string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (typeof header === 'string' && /^[\x21-\x7e]{1,255}$/.test(header)) return header;
  throw new Fault('invalid', 'an idempotency key has 1 to 255 visible characters', {
    reason: 'validation_error',
    detail: { param: 'Idempotency-Key' },
  });
}
