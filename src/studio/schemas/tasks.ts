import { Type } from 'typebox';
import type { Route } from '../../kit/contract.ts';
import { pageAnswer, pageQuery } from '../../kit/paging.ts';
import { taskPriorities, taskStatuses, taskTypes, waitReasons } from '../tasks/task.ts';
import { agentId, taskId, workspaceId } from './ids.ts';

const agentTasksUrl = '/api/v1/agents/:id/tasks';
const tasksUrl = '/api/v1/tasks';
const mayGive = 'agent:execute';
const maySee = 'agent:read';

const timestamp = Type.String({ format: 'date-time' });
const storable = '^[^\\u0000\\ud800-\\udfff]*$';
const capability = Type.String({ minLength: 1, maxLength: 128, pattern: storable });
const taskType = Type.Enum(taskTypes);
const taskPriority = Type.Enum(taskPriorities);
const status = Type.Enum(taskStatuses);
const anyObject = Type.Object({}, { additionalProperties: true });

const cpu = Type.String({ maxLength: 16, description: 'cores, as `500m` or `0.5`' });
const memory = Type.String({ maxLength: 24, description: 'bytes, as `512Mi`, `1Gi` or `500M`' });

const wantedInput = Type.Object({
  prompt: Type.Optional(Type.String({ maxLength: 256 * 1_024 })),
  context: Type.Optional({
    ...anyObject,
    description: 'what the template understands: files, a diff, a command',
  }),
});

const wantedTask = {
  type: taskType,
  priority: Type.Optional({ ...taskPriority, description: '`normal` when absent' }),
  requirements: Type.Optional(
    Type.Object({
      capabilities: Type.Optional(Type.Array(capability, { maxItems: 32 })),
      resources: Type.Optional(
        Type.Object(
          { cpu: Type.Optional(cpu), memory: Type.Optional(memory) },
          { description: 'what the task takes of its agent while it runs; nothing when absent' },
        ),
      ),
      timeout: Type.Optional(
        Type.Number({
          minimum: 1,
          maximum: 60 * 60_000,
          description: 'milliseconds of one attempt, rounded up; ten minutes when absent',
        }),
      ),
    }),
  ),
  input: Type.Optional(wantedInput),
};

const testReport = Type.Object({
  passed: Type.Integer(),
  failed: Type.Integer(),
  skipped: Type.Integer(),
  exitCode: Type.Union([Type.Integer(), Type.Null()]),
  durationMs: Type.Number(),
  cases: Type.Array(
    Type.Object({
      name: Type.String(),
      status: Type.Enum(['passed', 'failed', 'skipped']),
      message: Type.Optional(Type.String()),
    }),
  ),
  output: Type.String(),
});

const finding = Type.Object({
  file: Type.String(),
  line: Type.Optional(Type.Integer()),
  severity: Type.Enum(['info', 'warning', 'error']),
  message: Type.String(),
});

/** Something that a task made. */
export const artefactSchema = Type.Union([
  Type.Object({
    kind: Type.Literal('file'),
    path: Type.String(),
    hash: Type.Optional(Type.String()),
  }),
  Type.Object({ kind: Type.Literal('diff'), text: Type.String() }),
  Type.Object({ kind: Type.Literal('test_report'), report: testReport }),
  Type.Object({ kind: Type.Literal('findings'), findings: Type.Array(finding) }),
  Type.Object({
    kind: Type.Literal('execution'),
    executionId: Type.String(),
    workflowId: Type.String(),
  }),
]);

/** What an agent answers besides artefacts. */
export const taskResultFields = {
  text: Type.String(),
  usage: Type.Optional(
    Type.Object({ promptTokens: Type.Integer(), completionTokens: Type.Integer() }),
  ),
  model: Type.Optional(Type.String()),
};

const task = Type.Object(
  {
    taskId: Type.String(),
    type: taskType,
    priority: taskPriority,
    requirements: Type.Object({
      capabilities: Type.Array(Type.String()),
      resources: Type.Object({ cpu: Type.String(), memory: Type.String() }),
      timeout: Type.Integer({ description: 'milliseconds of one attempt' }),
    }),
    assignedAgent: Type.Optional(Type.String()),
    status,
    wantedAgent: Type.Optional(
      Type.String({ description: 'the only agent that may do it; absent: any that can' }),
    ),
    workspaceId: Type.Optional(Type.String()),
    ownerId: Type.String(),
    input: Type.Object({
      prompt: Type.Optional(Type.String()),
      context: Type.Optional(anyObject),
    }),
    attempt: Type.Integer({ description: '0 before it was first given to an agent; at most 3' }),
    waiting: Type.Optional(
      Type.Object(
        { reason: Type.Enum(waitReasons), message: Type.String() },
        { description: 'why it is still queued' },
      ),
    ),
    result: Type.Optional(
      Type.Object(taskResultFields, { description: 'with the artefacts 1 MiB at most' }),
    ),
    artefacts: Type.Optional(Type.Array(artefactSchema)),
    error: Type.Optional(
      Type.Object({
        code: Type.String({
          description: [
            '`timeout`, `cancelled`, `no_agent`, `deploy_failed`, `no_deploy_workflow`.',
            'Of the agent: `agent_stopped`, `agent_expired`, `agent_out_of_memory`, `agent_exited`, `agent_lost`, …;',
            '`agent_unavailable` when the mesh could not reach it.',
            'What it says itself: `answer_malformed`, `file_changed`, `file_unreadable`, `forbidden`, `model_not_found`,',
            '`no_test_command`, `path_invalid`, `service_failed`, `service_unavailable`, `task_invalid`,',
            '`test_command_failed`, `type_not_supported`; else `agent_failed`.',
          ].join(' '),
        }),
        message: Type.String(),
      }),
    ),
    createdAt: timestamp,
    startedAt: Type.Optional(timestamp),
    completedAt: Type.Optional(
      Type.String({ format: 'date-time', description: 'when it ended, however it ended' }),
    ),
  },
  { $id: 'StudioTask' },
);

const page = {
  status: Type.Optional({ ...status, description: 'only tasks that stand so' }),
  ...pageQuery(),
};

const list = Type.Object(
  {
    tasks: Type.Array(task),
    ...pageAnswer,
  },
  { $id: 'StudioTaskList' },
);

const accepting =
  'Answers once it is stored; with `Idempotency-Key` the same request is the same task. `test` runs the workspace’s test command (400 `no_test_command` without one); `deploy` runs its workflow by the studio itself (400 `no_deploy_workflow` without one) and takes the permission `workflow:execute`. Without a workspace both are taken, and fail in their record. A task is tried again, at most three times, where its agent died or could not be reached; so it may have been begun more than once.';

/** Tasks: giving them to agents, and what becomes of them. */
export const taskRoutes = {
  giveAgentTask: {
    method: 'POST',
    url: agentTasksUrl,
    summary: 'Give an agent a task',
    description: `${accepting} It waits for the agent where that is being started again.`,
    permission: mayGive,
    schema: {
      params: Type.Object({ id: agentId }),
      body: Type.Object({
        ...wantedTask,
        workspaceId: Type.Optional({
          ...workspaceId,
          description: 'the agent’s own workspace',
        }),
      }),
      response: { 202: task },
    },
  },
  listAgentTasks: {
    method: 'GET',
    url: agentTasksUrl,
    summary: 'List the tasks of an agent, the newest first',
    permission: maySee,
    schema: {
      params: Type.Object({ id: agentId }),
      query: Type.Object(page),
      response: { 200: list },
    },
  },
  readAgentTask: {
    method: 'GET',
    url: `${agentTasksUrl}/:taskId`,
    summary: 'Read a task of an agent',
    permission: maySee,
    schema: { params: Type.Object({ id: agentId, taskId }), response: { 200: task } },
  },
  cancelAgentTask: {
    method: 'DELETE',
    url: `${agentTasksUrl}/:taskId`,
    summary: 'Call a task of an agent off',
    description: 'It is `failed` with the code `cancelled`. 409 `task_finished` when it has ended.',
    permission: mayGive,
    schema: { params: Type.Object({ id: agentId, taskId }), response: { 200: task } },
  },
  giveTask: {
    method: 'POST',
    url: tasksUrl,
    summary: 'Have any able agent do a task',
    description: `${accepting} Able are the agents of the workspace, without one your own that belong to none; they have all the capabilities and room for the resources. With no such agent it waits, and fails \`no_agent\` in the end.`,
    permission: mayGive,
    schema: {
      body: Type.Object({ ...wantedTask, workspaceId: Type.Optional(workspaceId) }),
      response: { 202: task },
    },
  },
  listTasks: {
    method: 'GET',
    url: tasksUrl,
    summary: 'List your tasks and those of your workspaces, the newest first',
    permission: maySee,
    schema: {
      query: Type.Object({
        workspaceId: Type.Optional(workspaceId),
        agentId: Type.Optional(agentId),
        ...page,
      }),
      response: { 200: list },
    },
  },
  readTask: {
    method: 'GET',
    url: `${tasksUrl}/:taskId`,
    summary: 'Read a task',
    permission: maySee,
    schema: { params: Type.Object({ taskId }), response: { 200: task } },
  },
  cancelTask: {
    method: 'DELETE',
    url: `${tasksUrl}/:taskId`,
    summary: 'Call a task off',
    description: 'It is `failed` with the code `cancelled`. 409 `task_finished` when it has ended.',
    permission: mayGive,
    schema: { params: Type.Object({ taskId }), response: { 200: task } },
  },
} as const satisfies Readonly<Record<string, Route>>;
