import type { Static } from 'typebox';
import { Fault } from '../../kit/errors.ts';
import type { Call, Handler } from '../../kit/http/call.ts';
import { formatTraceparent } from '../../kit/trace/trace-context.ts';
import type { taskRoutes as routes } from '../schemas/tasks.ts';
import { parseRequirements } from '../tasks/resources.ts';
import { showTask } from '../tasks/shown-task.ts';
import { taskNotFound } from '../tasks/task-faults.ts';
import type { NewTask, StudioTask, Tasks } from '../tasks/task.ts';

type TaskHandlers = { readonly [K in keyof typeof routes]: Handler<(typeof routes)[K]> };
type GivenTask = Static<(typeof routes)['giveTask']['schema']['body']>;
type Giving = Call<(typeof routes)['giveTask']> | Call<(typeof routes)['giveAgentTask']>;

export interface TaskHandlerParts {
  readonly tasks: Pick<Tasks, 'add' | 'list' | 'read' | 'cancel'>;
}

/** The edge of the tasks. */
export function taskHandlers({ tasks }: TaskHandlerParts): TaskHandlers {
  const give = async (call: Giving, wantedAgent?: string) => {
    const task = await tasks.add(call.identity, wantedOf(call, wantedAgent));
    call.setHeader('location', `/api/v1/tasks/${task.id}`);
    return showTask(task);
  };
  return {
    giveAgentTask: (call) => give(call, call.params.id),
    giveTask: (call) => give(call),
    listAgentTasks: async ({ params: { id: agentId }, query, identity }) =>
      listed(await tasks.list(identity, { ...query, agentId }), query),
    listTasks: async ({ query, identity }) => listed(await tasks.list(identity, query), query),
    readAgentTask: async ({ params: { id, taskId }, identity }) =>
      showTask(ofAgent(await tasks.read(identity, taskId), id)),
    readTask: async ({ params: { taskId }, identity }) =>
      showTask(await tasks.read(identity, taskId)),
    cancelAgentTask: async ({ params: { id, taskId }, identity }) => {
      ofAgent(await tasks.read(identity, taskId), id);
      return showTask(await tasks.cancel(identity, taskId));
    },
    cancelTask: async ({ params: { taskId }, identity }) =>
      showTask(await tasks.cancel(identity, taskId)),
  };
}

function listed(
  { tasks, total }: Awaited<ReturnType<Tasks['list']>>,
  { limit, offset }: { readonly limit: number; readonly offset: number },
) {
  return { tasks: tasks.map(showTask), total, limit, offset };
}

function ofAgent(task: StudioTask, agentId: string): StudioTask {
  if (task.wantedAgent === agentId || task.assignedAgent === agentId) return task;
  throw taskNotFound(task.id);
}

function wantedOf(call: Giving, wantedAgent: string | undefined): NewTask {
  const { type, priority, requirements, input, workspaceId }: GivenTask = call.body;
  const idempotencyKey = keyOf(call.headers['idempotency-key']);
  return {
    type,
    traceparent: formatTraceparent(call.span.spanContext()),
    ...(priority && { priority }),
    ...(requirements && { requirements: requirementsOf(requirements) }),
    ...(input && { input: inputOf(input) }),
    ...(workspaceId !== undefined && { workspaceId }),
    ...(wantedAgent !== undefined && { wantedAgent }),
    ...(idempotencyKey !== undefined && { idempotencyKey }),
  };
}

function inputOf({ prompt, context }: NonNullable<GivenTask['input']>) {
  return { ...(prompt !== undefined && { prompt }), ...(context && { context: { ...context } }) };
}

function requirementsOf(given: NonNullable<GivenTask['requirements']>) {
  const { capabilities, resources, timeout } = given;
  return {
    ...(capabilities && { capabilities }),
    ...(resources && { resources: parseRequirements(resources) }),
    ...(timeout !== undefined && { timeoutMs: Math.ceil(timeout) }),
  };
}

function keyOf(header: string | readonly string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (typeof header === 'string' && /^[\x21-\x7e]{1,255}$/.test(header)) return header;
  throw new Fault('invalid', 'an idempotency key has 1 to 255 visible characters', {
    reason: 'validation_error',
    detail: { param: 'Idempotency-Key' },
  });
}
