import { Type } from 'typebox';
import type { Route } from '../../kit/contract.ts';
import { AgentId } from './agents.ts';
import { priorities } from '../tasks/task.ts';

const communication = 'mesh:communicate';
const agentId = AgentId;
const taskId = AgentId;
const capability = Type.String({
  minLength: 1,
  maxLength: 128,
  pattern: '^[^\\u0000-\\u001f\\u007f\\ud800-\\udfff]+$',
});
const timestamp = Type.String({ format: 'date-time' });
const timeoutMsMax = 60 * 60_000;

const taskRequest = Type.Object(
  {
    targetAgent: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z0-9._:-]{1,128}$',
        description:
          'the id of an agent; absent lets the mesh take one that has the capability and is neither busy nor draining',
      }),
    ),
    task: Type.Object({
      type: Type.String({
        minLength: 1,
        maxLength: 128,
        pattern: '^[^\\u0000-\\u001f\\u007f\\ud800-\\udfff]+$',
      }),
      capability: Type.Optional(
        Type.String({
          ...capability,
          description:
            'what the agent is to be able to do, without control characters; `type` when absent',
        }),
      ),
      input: Type.Optional(Type.Object({}, { additionalProperties: true })),
      timeout: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: timeoutMsMax,
          default: 30_000,
          description: 'milliseconds for everything, waiting for its turn included',
        }),
      ),
      priority: Type.Optional(Type.Enum(priorities, { default: 'normal' })),
    }),
  },
  { $id: 'TaskRequest' },
);

const taskResponse = Type.Object(
  {
    taskId: Type.String(),
    status: Type.String({ description: '`completed`' }),
    result: Type.Unknown(),
    duration: Type.Integer({ description: 'milliseconds' }),
    executedBy: Type.String(),
  },
  { $id: 'TaskResponse' },
);

const acceptedTask = Type.Object(
  { taskId: Type.String(), status: Type.String({ description: '`running`' }) },
  { $id: 'AcceptedTask' },
);

const taskState = Type.Object(
  {
    taskId: Type.String(),
    status: Type.Enum(['queued', 'running', 'completed', 'failed', 'cancelled']),
    type: Type.String(),
    priority: Type.Enum(priorities),
    result: Type.Optional(
      Type.Unknown({
        description:
          'of a completed task, unless it was larger than 64 KiB and asked for without an idempotency key',
      }),
    ),
    error: Type.Optional(
      Type.Object({
        code: Type.String(),
        message: Type.String(),
        details: Type.Object({}, { additionalProperties: true }),
      }),
    ),
    duration: Type.Optional(Type.Integer({ description: 'milliseconds' })),
    executedBy: Type.Optional(Type.String()),
    createdAt: timestamp,
    deadlineAt: timestamp,
    finishedAt: Type.Optional(timestamp),
  },
  { $id: 'TaskState' },
);

const inboxTask = Type.Object(
  {
    taskId: Type.String(),
    askedBy: Type.String({ description: 'the subject that asks' }),
    type: Type.String(),
    input: Type.Object({}, { additionalProperties: true }),
    priority: Type.Enum(priorities),
    timeout: Type.Integer({ description: 'milliseconds that are left' }),
    attempt: Type.Integer({
      description: '1, and more when it was taken before and not answered within the lease',
    }),
    traceparent: Type.String(),
  },
  { $id: 'InboxTask' },
);

/** Tasks: their asking, their state, and the inboxes of agents that cannot listen. */
export const taskRoutes = {
  executeTask: {
    method: 'POST',
    url: '/api/v1/tasks/execute',
    summary: 'Have an agent do a task',
    description:
      'With `Idempotency-Key` the same request gets the same outcome, and goes on when its caller has gone. With `Prefer: respond-async` it answers 202 as soon as the task is durable. 502: the agent failed; 503: it cannot be reached, is offline or takes no more; 504: out of time; 404 `AGENT_NOT_FOUND`.',
    permission: communication,
    schema: { body: taskRequest, response: { 200: taskResponse, 202: acceptedTask } },
  },
  readTask: {
    method: 'GET',
    url: '/api/v1/tasks/:taskId',
    summary: 'Read a task, for a day',
    description: 'Tasks are seen by who asked for them and by the owner of the agent they went to.',
    schema: {
      params: Type.Object({ taskId }),
      query: Type.Object({
        wait: Type.Integer({
          minimum: 0,
          maximum: 60,
          default: 0,
          description: 'seconds to wait for its end',
        }),
      }),
      response: { 200: taskState },
    },
  },
  cancelTask: {
    method: 'DELETE',
    url: '/api/v1/tasks/:taskId',
    summary: 'Call a task off',
    description: 'The agent is told so. 409 `TASK_FINISHED` when it has ended already.',
    permission: communication,
    schema: { params: Type.Object({ taskId }), response: { 200: taskState } },
  },
  takeInbox: {
    method: 'GET',
    url: '/api/v1/agents/:agentId/inbox',
    summary: 'Take tasks of an agent that cannot listen',
    description:
      'The most urgent first. A task that is taken is the taker’s for the lease; not answered by then, it is handed out again with a higher `attempt`.',
    permission: communication,
    rateLimit: 'none',
    trace: 'none',
    schema: {
      params: Type.Object({ agentId }),
      query: Type.Object({
        wait: Type.Integer({
          minimum: 0,
          maximum: 60,
          default: 0,
          description: 'seconds to wait for a task',
        }),
        limit: Type.Integer({
          minimum: 1,
          maximum: 100,
          default: 10,
          description: 'at most so many tasks',
        }),
        lease: Type.Integer({
          minimum: 5,
          maximum: 3_600,
          default: 60,
          description: 'seconds',
        }),
      }),
      response: { 200: Type.Object({ tasks: Type.Array(inboxTask) }) },
    },
  },
  answerInbox: {
    method: 'POST',
    url: '/api/v1/agents/:agentId/inbox/:taskId',
    summary: 'Answer a task from the inbox',
    description:
      '`result` or `error` must be there. The first answer counts; later ones are refused with 409 `TASK_FINISHED`.',
    permission: communication,
    rateLimit: 'none',
    schema: {
      params: Type.Object({ agentId, taskId }),
      body: Type.Object({
        result: Type.Optional(Type.Unknown({ description: 'may be null' })),
        error: Type.Optional(
          Type.Object(
            { message: Type.Optional(Type.String({ maxLength: 10_000 })) },
            { description: 'in place of a result: the agent failed' },
          ),
        ),
      }),
      response: { 200: Type.Object({ taskId: Type.String(), status: Type.String() }) },
    },
  },
} as const satisfies Record<string, Route>;
