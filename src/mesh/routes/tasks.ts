import { Fault } from '../../kit/errors.ts';
import type { Handler } from '../../kit/http/call.ts';
import type { Identity } from '../../kit/identity/identity.ts';
import { allows } from '../../kit/permissions.ts';
import { formatTraceparent } from '../../kit/trace/trace-context.ts';
import type { taskRoutes as routes } from '../schemas/tasks.ts';
import { hasField } from '../tasks/caller.ts';
import type { Inbox } from '../tasks/inbox.ts';
import type { TaskAccess } from '../tasks/task-access.ts';
import {
  checkIdempotencyKey,
  targetOf,
  taskOf,
  toOutcome,
  toState,
  type TaskRequest,
} from '../tasks/task-answers.ts';
import type { MeshTaskRunner } from '../tasks/task-runner.ts';

type TaskHandlers = { readonly [K in keyof typeof routes]: Handler<(typeof routes)[K]> };

export interface TaskHandlerParts {
  readonly tasks: Pick<MeshTaskRunner, 'run' | 'start'>;
  readonly access: TaskAccess;
  readonly inbox: Pick<Inbox, 'take' | 'answer'>;
}

/** The edge of the tasks. */
export function taskHandlers({ tasks, access, inbox }: TaskHandlerParts): TaskHandlers {
  return {
    executeTask: async (call) => {
      const { body, identity, headers, span } = call;
      const request = body as TaskRequest;
      const idempotencyKey = keyOf(headers['idempotency-key']);
      const asked = {
        askedBy: identity.subject,
        idempotencyKey,
        traceparent: formatTraceparent(span.spanContext()),
      };
      if (isAsync(headers['prefer'])) {
        const { taskId } = await tasks.start(targetOf(request), taskOf(request), asked);
        call.setStatus(202);
        call.setHeader('location', `/api/v1/tasks/${taskId}`);
        call.setHeader('preference-applied', 'respond-async');
        return { taskId, status: 'running' };
      }
      // A caller with a key may come back for the outcome.
      const signal = idempotencyKey === undefined ? call.signal : undefined;
      return toOutcome(await tasks.run(targetOf(request), taskOf(request), { ...asked, signal }));
    },
    readTask: async ({ params: { taskId }, query, identity, signal }) =>
      toState(
        await access.read(taskId, { ...readerOf(identity), waitMs: query.wait * 1_000, signal }),
      ),
    cancelTask: async ({ params: { taskId }, identity }) =>
      toState(await access.cancel(taskId, readerOf(identity))),
    takeInbox: async ({ params: { agentId }, query, identity, signal }) => {
      const taken = await inbox.take(agentId, {
        subject: identity.subject,
        waitMs: query.wait * 1_000,
        countMax: query.limit,
        leaseMs: query.lease * 1_000,
        signal,
      });
      return {
        tasks: taken.map(({ deadlineAtMs, ...task }) => ({
          ...task,
          timeout: Math.max(1, deadlineAtMs - Date.now()),
        })),
      };
    },
    answerInbox: async ({ params: { agentId, taskId }, body, identity }) => {
      const { result, error } = body;
      if (!error && !hasField(body, 'result')) throw noAnswer();
      const answer = { subject: identity.subject, result, error };
      return { taskId, status: await inbox.answer(agentId, taskId, answer) };
    },
  };
}

function noAnswer(): Fault {
  return new Fault('invalid', 'an answer has a result or an error', {
    reason: 'validation_error',
    detail: { param: 'result' },
  });
}

function keyOf(header: string | readonly string[] | undefined): string | undefined {
  return header === undefined ? undefined : checkIdempotencyKey(String(header));
}

function isAsync(header: string | readonly string[] | undefined): boolean {
  return typeof header === 'string' && /(^|,)\s*respond-async\s*(,|;|$)/i.test(header);
}

function readerOf({ subject, permissions }: Identity) {
  return { subject, isAdmin: allows(permissions, 'mesh:admin') };
}
