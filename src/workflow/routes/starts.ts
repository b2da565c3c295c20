import type { Static } from 'typebox';
import { Fault } from '../../kit/errors.ts';
import type { Call, Handler } from '../../kit/http/call.ts';
import { formatTraceparent } from '../../kit/trace/trace-context.ts';
import type { statusOf } from '../engine/execution-answers.ts';
import type { Execution, StartRequest } from '../engine/execution.ts';
import type { Actor } from '../definitions/workflow.ts';
import type { startRoutes as routes } from '../schemas/starts.ts';
import { actorOf } from './actor.ts';
import { callerTokenOf } from './caller-token.ts';

type StartRoute = typeof routes.executeWorkflow;
type StartHandlers = { readonly [K in keyof typeof routes]: Handler<(typeof routes)[K]> };
type Options = NonNullable<Static<StartRoute['schema']['body']>['options']>;

export interface StartHandlerParts {
  readonly start: (request: StartRequest) => Promise<Execution>;
  readonly wait: (
    executionId: string,
    options: { readonly timeoutMs: number; readonly signal: AbortSignal },
  ) => Promise<Execution>;
  /** Throws unless somebody may start this version. */
  readonly requireStartable: (id: string, version: number, actor: Actor) => Promise<void>;
  /** Throws `not_found` for a workflow that somebody does not see. */
  readonly requireShown: (id: string, actor: Actor) => Promise<unknown>;
  /** Throws `invalid` or `forbidden` for addresses that may not be called, and without a secret. */
  readonly checkCallbacks: (
    workflowId: string,
    callbacks: NonNullable<StartRequest['callbacks']>,
  ) => Promise<void>;
  /** Milliseconds. */
  readonly estimate: (workflowId: string, version: number) => Promise<number>;
  /** Counts a start of what is built in. */
  readonly countUse: (workflowId: string) => Promise<void>;
  /** An execution that has ended, as its own route answers it. */
  readonly toAnswer: (execution: Execution) => ReturnType<typeof statusOf>;
  /** The WebSocket address of an execution's stream. */
  readonly monitorUrl: (executionId: string) => string;
}

const waitMsMax = 60_000;

/** The edge of starting. */
export function startHandlers(parts: StartHandlerParts): StartHandlers {
  return {
    executeWorkflow: async (call) => {
      const { params, body, identity, signal } = call;
      const { options = {} } = body;
      const actor = actorOf(identity);
      if (options.version !== undefined) {
        await parts.requireStartable(params.id, options.version, actor);
      }
      const request = requestOf(call, options);
      if (request.callbacks) await parts.checkCallbacks(params.id, request.callbacks);
      const started = await hidingDrafts(
        () => parts.start(request),
        () => parts.requireShown(params.id, actor),
      );
      await parts.countUse(params.id);
      if (options.async === false) {
        const execution = await parts.wait(started.id, { timeoutMs: waitMsMax, signal });
        if (execution.completedAtMs !== undefined) return parts.toAnswer(execution);
      }
      call.setStatus(202);
      return {
        executionId: started.id,
        workflowId: started.workflowId,
        status: 'running',
        startedAt: new Date(started.startedAtMs).toISOString(),
        estimatedDuration: await parts.estimate(started.workflowId, started.version),
        monitorUrl: parts.monitorUrl(started.id),
      };
    },
  };
}

/** Tells of a draft that it cannot be started to those only who see it. */
export async function hidingDrafts<T>(
  start: () => Promise<T>,
  requireShown: () => Promise<unknown>,
): Promise<T> {
  try {
    return await start();
  } catch (error) {
    if (Fault.from(error).reason === 'workflow_not_active') await requireShown();
    throw error;
  }
}

function requestOf(call: Call<StartRoute>, options: Options): StartRequest {
  const { params, body, identity, headers, span } = call;
  const { version, timeout, maxTokens, maxCost, callbacks } = options;
  const idempotencyKey = keyOf(headers['idempotency-key']) ?? options.idempotencyKey;
  return {
    workflowId: params.id,
    inputs: (body.inputs ?? {}) as StartRequest['inputs'],
    ownerId: identity.subject,
    permissions: identity.permissions,
    trigger: 'api',
    traceparent: formatTraceparent(span.spanContext()),
    ...(version === undefined ? {} : { version }),
    ...(timeout === undefined ? {} : { timeoutMs: timeout }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(maxCost === undefined ? {} : { maxCost }),
    ...(callbacks === undefined ? {} : { callbacks: callbacksOf(callbacks) }),
    ...callerTokenOf(headers),
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
  };
}

function callbacksOf({ onComplete, onError, secret }: NonNullable<Options['callbacks']>) {
  return {
    ...(onComplete === undefined ? {} : { onComplete }),
    ...(onError === undefined ? {} : { onError }),
    ...(secret === undefined ? {} : { secret }),
  };
}

function keyOf(header: string | readonly string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (typeof header === 'string' && /^[\x21-\x7e]{1,255}$/.test(header)) return header;
  throw new Fault('invalid', 'Idempotency-Key must be 1 to 255 printable ASCII characters', {
    reason: 'validation_error',
    detail: { param: 'Idempotency-Key' },
  });
}
