import type { Call, Handler } from '../../kit/http/call.ts';
import type { Identity } from '../../kit/identity/identity.ts';
import { allows } from '../../kit/permissions.ts';
import { WrittenAsciiJson } from '../../kit/answers/written-json.ts';
import type { MeshMetrics } from '../activity/mesh-metrics.ts';
import { toAnswer, toRegistered } from '../agents/answers.ts';
import type { Discovered, DiscoveryQuery } from '../agents/discovery.ts';
import type { AgentOwner, AgentRegistry } from '../agents/registry.ts';
import type { agentRoutes } from '../schemas/agents.ts';

type Routes = typeof agentRoutes;

export interface AgentParts {
  readonly registry: AgentRegistry;
  readonly metrics: Pick<MeshMetrics, 'message' | 'discovered'>;
  /** Ends what was attested to an agent by a key that holds no longer. */
  readonly revokeAll: (agentId: string, reason: string) => Promise<void>;
  /** Ends the tasks of an agent that is gone. */
  readonly agentGone: (agentId: string) => Promise<void>;
}

/** The edge of agents. */
export function agentHandlers({ registry, metrics, revokeAll, agentGone }: AgentParts): {
  readonly [K in keyof Routes]: Handler<Routes[K]>;
} {
  return {
    registerAgent: async ({ identity, body }) =>
      toRegistered(await registry.register(identity.subject, body)),
    discoverAgents: (call) => discover({ registry, metrics }, call),
    listAgents: ({ query }) => {
      const { limit, offset, status, capability } = query;
      const agents = registry.directory
        .sorted()
        .filter((one) => status === undefined || one.status === status)
        .filter((one) => capability === undefined || one.capabilitySet.has(capability));
      const page = agents.slice(offset, offset + limit);
      return { agents: page.map(toAnswer), total: agents.length, limit, offset };
    },
    getAgent: async ({ params }) => toAnswer(await registry.get(params.agentId)),
    deregisterAgent: async ({ identity, params, query }) => {
      await registry.deregister(ownerOf(identity), params.agentId, query);
      await agentGone(params.agentId);
      await revokeAll(params.agentId, 'the agent was deregistered');
      return { agentId: params.agentId, deregistered: true };
    },
    beatAgent: async ({ identity, params, body }) => {
      const state = await registry.heartbeat(ownerOf(identity), params.agentId, body);
      metrics.message('heartbeat');
      const { agentId, status, epoch, heartbeatInterval } = state;
      return { agentId, status, epoch, next: heartbeatInterval };
    },
    setAgentKey: async ({ identity, params, body }) => {
      const { agentId } = params;
      const before = (await registry.get(agentId)).publicKey;
      const { publicKey } = body;
      await registry.setKey(ownerOf(identity), agentId, body);
      if (publicKey !== before) await revokeAll(agentId, 'the key was changed');
      return { agentId, publicKey };
    },
  };
}

const waitSecondsDefault = 30;

function discover(
  { registry: { discovery }, metrics }: Pick<AgentParts, 'registry' | 'metrics'>,
  call: Call<Routes['discoverAgents']>,
): WrittenAsciiJson | Promise<WrittenAsciiJson> {
  const { capabilities = [], filters, limit, ...inBody } = call.body;
  const query: DiscoveryQuery = { capabilities, filters, limit };
  const index = call.query.index ?? inBody.index;
  if (index === undefined) {
    const startedAt = performance.now();
    const answer = writeDiscovered(discovery.discover(query), call);
    metrics.discovered((performance.now() - startedAt) / 1000);
    return answer;
  }
  const wait = call.query.wait ?? inBody.wait ?? waitSecondsDefault;
  metrics.message('discovery');
  return discovery
    .await(query, { index, waitMs: wait * 1000, signal: call.signal })
    .then((found) => writeDiscovered(found, call));
}

/** Each agent's text lies ready: what is found is only put together. */
function writeDiscovered(
  { agents, totalFound, index }: Discovered,
  call: Pick<Call, 'setHeader'>,
): WrittenAsciiJson {
  const texts = agents.map(({ json }) => json);
  call.setHeader('x-mesh-index', String(index));
  return new WrittenAsciiJson(`{"agents":[${texts.join(',')}],"totalFound":${totalFound}}`);
}

function ownerOf({ subject, permissions }: Identity): AgentOwner {
  return { subject, isAdministrator: allows(permissions, 'mesh:admin') };
}
