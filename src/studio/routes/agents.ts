import type { Call, Handler } from '../../kit/http/call.ts';
import { EventStream, type ServerEvent } from '../../kit/answers/sse.ts';
import type { Agent, AgentHealth, Agents, LogLine } from '../agents/agent.ts';
import type { AgentLogs } from '../agents/agent-logs.ts';
import { isFinal } from '../agents/agent-record.ts';
import { parseResources } from '../agents/resources.ts';
import { formatResources } from '../quantities.ts';
import type { Template } from '../agents/spawn-request.ts';
import type { Runtime } from '../runtimes/runtime.ts';
import type { agentRoutes as routes } from '../schemas/agents.ts';
import type { Tasks } from '../tasks/task.ts';

type Routes = typeof routes;
type Handlers = { readonly [K in keyof Routes]: Handler<Routes[K]> };

export interface AgentRouteParts {
  readonly agents: Agents;
  readonly logs: Pick<AgentLogs, 'read' | 'follow'>;
  readonly runtimes: readonly Runtime[];
  readonly templates: readonly Template[];
  readonly tasks: Pick<Tasks, 'counts'>;
}

const mebibyte = 2 ** 20;

/** The edge of the agents. */
export function agentHandlers(parts: AgentRouteParts): Handlers {
  const { agents, tasks } = parts;
  return {
    listAgents: async ({ identity, query }) => {
      const { limit, offset, workspaceId, status } = query;
      const { agents: found, total } = await agents.list(identity, {
        limit,
        offset,
        ...(workspaceId === undefined ? {} : { workspaceId }),
        ...(status === undefined ? {} : { status }),
      });
      return { agents: found.map(shown), total, limit, offset };
    },
    readAgent: async ({ identity, params }) =>
      shown(await agents.require(identity, params.id, 'view')),
    spawnAgent: async ({ identity, body }) => {
      const { resources, ttl, ...wanted } = body;
      const agent = await agents.spawn(identity, {
        ...wanted,
        ...(resources ? { resources: parseResources(resources) } : {}),
        ...(ttl === undefined ? {} : { ttlSeconds: ttl }),
      });
      return shown(agent);
    },
    stopAgent: async ({ identity, params }) => shown(await agents.stop(identity, params.id)),
    deleteAgent: async ({ identity, params }) => {
      await agents.remove(identity, params.id);
      return { id: params.id, deleted: true as const };
    },
    readAgentLogs: (call) => readLogs(parts, call),
    readAgentHealth: async ({ identity, params }) =>
      shownHealth(await agents.health(identity, params.id), tasks.counts(params.id)),
    ...catalogueHandlers(parts),
  };
}

/** What agents run on and what they are made of. */
function catalogueHandlers({
  runtimes,
  templates,
}: AgentRouteParts): Pick<Handlers, 'listRuntimes' | 'listTemplates'> {
  return {
    listRuntimes: async ({ query }) => {
      const shownRuntimes = await Promise.all(pageOf(runtimes, query).map(shownRuntime));
      return { runtimes: shownRuntimes, total: runtimes.length, ...query };
    },
    listTemplates: ({ query }) => ({
      templates: pageOf(templates, query).map(({ name, description, capabilities, resources }) => ({
        name,
        description,
        capabilities: [...capabilities],
        resources: formatResources(resources),
      })),
      total: templates.length,
      ...query,
    }),
  };
}

async function readLogs(
  { agents, logs }: AgentRouteParts,
  { identity, params, query, headers, signal }: Call<Routes['readAgentLogs']>,
) {
  const { id } = await agents.require(identity, params.id, 'view');
  const { after, limit, follow } = query;
  if (!follow) {
    const lines = await logs.read(id, { after, limit });
    return { logs: lines.map(shownLine), last: lines.at(-1)?.seq ?? after ?? 0 };
  }
  const last = lastEventOf(headers['last-event-id']) ?? after ?? 0;
  const isOver = async () => {
    const agent = await agents.find(id);
    return !agent || isFinal(agent);
  };
  const lines = logs.follow(id, { after: last, isOver, signal });
  return new EventStream(eventsOf(lines), { isLive: true });
}

async function* eventsOf(lines: AsyncIterable<LogLine>): AsyncGenerator<ServerEvent> {
  for await (const line of lines) {
    yield { id: String(line.seq), data: JSON.stringify(shownLine(line)) };
  }
}

function lastEventOf(header: string | string[] | undefined): number | undefined {
  const last = Number(typeof header === 'string' && header !== '' ? header : Number.NaN);
  return Number.isSafeInteger(last) && last >= 0 ? last : undefined;
}

/** An agent as callers read it. */
export function shown(agent: Agent) {
  const { startedAtMs, endedAtMs, expiresAtMs, failure, workspaceId } = agent;
  return {
    id: agent.id,
    name: agent.name,
    type: agent.type,
    template: agent.template,
    status: agent.status,
    capabilities: [...agent.capabilities],
    runtime: agent.runtime,
    ...(workspaceId === undefined ? {} : { workspaceId }),
    ownerId: agent.ownerId,
    resources: formatResources(agent.resources),
    createdAt: timeOf(agent.createdAtMs),
    ...(startedAtMs === undefined ? {} : { startedAt: timeOf(startedAtMs) }),
    ...(endedAtMs === undefined ? {} : { endedAt: timeOf(endedAtMs) }),
    ...(expiresAtMs === undefined ? {} : { expiresAt: timeOf(expiresAtMs) }),
    restarts: agent.restarts,
    ...(failure
      ? { failure: { reason: failure.reason, message: failure.message, at: timeOf(failure.atMs) } }
      : {}),
  };
}

function shownHealth(
  { agent, use, lastHeartbeatMs }: AgentHealth,
  tasks: ReturnType<Tasks['counts']>,
) {
  const { id, status, startedAtMs } = agent;
  const isUp = status === 'running' && startedAtMs !== undefined;
  return {
    agentId: id,
    status,
    uptime: isUp ? Math.max(0, Math.floor((Date.now() - startedAtMs) / 1_000)) : 0,
    metrics: {
      // Always in the same unit, so that readings compare.
      cpu: `${Math.round((use?.cpu ?? 0) * 1_000)}m`,
      memory: `${Math.round((use?.memory ?? 0) / mebibyte)}Mi`,
      tasks: { running: tasks.running, queued: tasks.queued },
    },
    ...(lastHeartbeatMs === undefined ? {} : { lastHeartbeat: timeOf(lastHeartbeatMs) }),
  };
}

function shownLine({ seq, atMs, stream, text }: LogLine) {
  return { seq, at: timeOf(atMs), stream, text };
}

async function shownRuntime(runtime: Runtime) {
  const missing = await runtime.missing();
  const limits = runtime.limits().map(({ name, isEnforced, means }) => ({
    name,
    enforced: isEnforced,
    means,
  }));
  const available = missing === undefined;
  return { name: runtime.name, available, ...(available ? {} : { missing }), limits };
}

function pageOf<T>(
  all: readonly T[],
  { limit, offset }: { readonly limit: number; readonly offset: number },
): readonly T[] {
  return all.slice(offset, offset + limit);
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}
