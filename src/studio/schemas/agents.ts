import { Type } from 'typebox';
import type { Route } from '../../kit/contract.ts';
import { pageAnswer, pageQuery } from '../../kit/paging.ts';
import { agentStatuses, failureReasons, runtimeNames } from '../agents/agent.ts';
import { cpuPattern, memoryPattern } from '../agents/resources.ts';
import { agentId, workspaceId } from './ids.ts';

const url = '/api/v1/agents';
const timestamp = Type.String({ format: 'date-time' });
const storable = '^[^\\u0000\\ud800-\\udfff]*$';
const bounded = (maxLength: number) => Type.String({ minLength: 1, maxLength, pattern: storable });

const mayRead = 'agent:read';
const mayExecute = 'agent:execute';

const runtime = Type.Enum([...runtimeNames]);
const status = Type.Enum([...agentStatuses]);
const capability = bounded(128);

const shownResources = Type.Object({
  cpu: Type.String({ description: 'cores: `1`, `500m`' }),
  memory: Type.String({ description: 'bytes: `512Mi`' }),
});

const failure = Type.Object({
  reason: Type.Enum([...failureReasons]),
  message: Type.String({ description: 'with the last lines that it printed, where there are any' }),
  at: timestamp,
});

const agent = Type.Object(
  {
    id: Type.String({ description: 'also its id on the mesh' }),
    name: Type.String(),
    type: Type.String(),
    template: Type.String({ description: 'what it is made of: see `GET /api/v1/templates`' }),
    status,
    capabilities: Type.Array(Type.String()),
    runtime,
    workspaceId: Type.Optional(Type.String()),
    ownerId: Type.String(),
    resources: shownResources,
    createdAt: timestamp,
    startedAt: Type.Optional(timestamp),
    endedAt: Type.Optional(timestamp),
    expiresAt: Type.Optional(timestamp),
    restarts: Type.Integer({ description: 'how often it was started again after it had failed' }),
    failure: Type.Optional(failure),
  },
  { $id: 'StudioAgent' },
);

const logLine = Type.Object(
  {
    seq: Type.Integer(),
    at: timestamp,
    stream: Type.Enum(['stdout', 'stderr', 'studio']),
    text: Type.String(),
  },
  { $id: 'AgentLogLine' },
);

const one = Type.Object({ id: agentId });

/** The routes of agents, of what they run on and of what they are made of. */
export const agentRoutes = {
  listAgents: {
    method: 'GET',
    url,
    summary: 'List your agents and those of your workspaces, the newest first',
    permission: mayRead,
    schema: {
      query: Type.Object({
        workspaceId: Type.Optional(workspaceId),
        status: Type.Optional({ ...status, description: 'only agents that stand so' }),
        ...pageQuery(),
      }),
      response: { 200: Type.Object({ agents: Type.Array(agent), ...pageAnswer }) },
    },
  },
  readAgent: {
    method: 'GET',
    url: `${url}/:id`,
    summary: 'Read an agent',
    permission: mayRead,
    schema: { params: one, response: { 200: agent } },
  },
  spawnAgent: {
    method: 'POST',
    url: `${url}/spawn`,
    summary: 'Start an agent, and answer when the mesh has heard it',
    description:
      'In a workspace it takes `agents:deploy` there. Refusals name a `reason`: `runtime_unavailable`, `image_missing`, `start_failed`, `start_timeout`, `exited`, `out_of_memory`, `too_many_processes`; the agent is kept as `failed` then, with its log.',
    permission: mayExecute,
    schema: {
      body: Type.Object({
        type: Type.String({
          minLength: 1,
          maxLength: 64,
          pattern: storable,
          description: 'any word; the name of a template picks it, else it is an `assistant`',
        }),
        name: Type.Optional(bounded(128)),
        capabilities: Type.Optional(
          Type.Array(capability, {
            maxItems: 64,
            description: 'the template’s own when absent',
          }),
        ),
        resources: Type.Optional(
          Type.Object({
            cpu: Type.Optional(
              Type.String({ pattern: cpuPattern, description: '`500m` or `0.5` cores' }),
            ),
            memory: Type.Optional(
              Type.String({
                pattern: memoryPattern,
                description: 'bytes as `536870912`, `512Mi`, `1Gi` or `500M`',
              }),
            ),
          }),
        ),
        runtime: Type.Optional({ ...runtime, description: '`local` when absent' }),
        ttl: Type.Optional(
          Type.Integer({
            minimum: 1,
            maximum: 315_360_000,
            description: 'seconds after which it ends; what the operator allows when absent',
          }),
        ),
        workspaceId: Type.Optional(workspaceId),
      }),
      response: { 201: agent },
    },
  },
  stopAgent: {
    method: 'POST',
    url: `${url}/:id/stop`,
    summary: 'End an agent with all its processes; its record and its log stay',
    permission: mayExecute,
    schema: { params: one, response: { 200: agent } },
  },
  deleteAgent: {
    method: 'DELETE',
    url: `${url}/:id`,
    summary: 'End an agent and forget it with its log',
    permission: mayExecute,
    schema: {
      params: one,
      response: { 200: Type.Object({ id: Type.String(), deleted: Type.Literal(true) }) },
    },
  },
  readAgentLogs: {
    method: 'GET',
    url: `${url}/:id/logs`,
    summary: 'Read what an agent printed, and what the studio says of it',
    description:
      'The newest 10,000 lines, at most 1 MiB, are kept. Without `after` the last `limit` lines. With `follow` they come as server-sent events until the agent has ended; an event’s id is its `seq`, and `Last-Event-ID` goes on behind it.',
    permission: mayRead,
    schema: {
      params: one,
      query: Type.Object({
        after: Type.Optional(
          Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: 'a `seq`' }),
        ),
        limit: Type.Integer({
          minimum: 1,
          maximum: 1_000,
          default: 200,
          description: 'at most so many lines',
        }),
        follow: Type.Optional(Type.Boolean({ description: 'go on as server-sent events' })),
      }),
      response: {
        200: Type.Object({
          logs: Type.Array(logLine),
          last: Type.Integer({ description: 'the `after` of the next page' }),
        }),
      },
      stream: logLine,
    },
  },
  readAgentHealth: {
    method: 'GET',
    url: `${url}/:id/health`,
    summary: 'Say how an agent does: all of it is measured now',
    permission: mayRead,
    schema: {
      params: one,
      response: {
        200: Type.Object({
          agentId: Type.String(),
          status,
          uptime: Type.Integer({ description: 'whole seconds since it last started' }),
          metrics: Type.Object({
            cpu: Type.String({
              description: 'cores that all its processes use, in thousandths: `125m`',
            }),
            memory: Type.String({
              description: 'what all its processes have for themselves: `87Mi`',
            }),
            tasks: Type.Object({ running: Type.Integer(), queued: Type.Integer() }),
          }),
          lastHeartbeat: Type.Optional(
            Type.String({ format: 'date-time', description: 'absent when the mesh knows none' }),
          ),
        }),
      },
    },
  },
  listRuntimes: {
    method: 'GET',
    url: '/api/v1/runtimes',
    summary: 'List what agents can run on here, and which limits it keeps',
    permission: mayRead,
    schema: {
      query: Type.Object(pageQuery()),
      response: {
        200: Type.Object({
          runtimes: Type.Array(
            Type.Object({
              name: runtime,
              available: Type.Boolean(),
              missing: Type.Optional(
                Type.String({ description: 'why it cannot be used, for the operator' }),
              ),
              limits: Type.Array(
                Type.Object({
                  name: Type.Enum(['cpu', 'memory', 'processes', 'files']),
                  enforced: Type.Boolean(),
                  means: Type.String({ description: 'by what, or why not' }),
                }),
              ),
            }),
          ),
          ...pageAnswer,
        }),
      },
    },
  },
  listTemplates: {
    method: 'GET',
    url: '/api/v1/templates',
    summary: 'List what agents can be made of',
    permission: mayRead,
    schema: {
      query: Type.Object(pageQuery()),
      response: {
        200: Type.Object({
          templates: Type.Array(
            Type.Object({
              name: Type.String(),
              description: Type.String(),
              capabilities: Type.Array(Type.String()),
              resources: shownResources,
            }),
          ),
          ...pageAnswer,
        }),
      },
    },
  },
} as const satisfies Readonly<Record<string, Route>>;
