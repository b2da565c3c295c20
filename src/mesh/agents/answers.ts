import type { AgentAnswer } from '../schemas/agents.ts';
import type { AgentRecord } from './agent-record.ts';
import type { AgentRow, CardFacts } from './agent-row.ts';

/** What a registration is answered with. */
export function toRegistered(row: AgentRow) {
  const { registrationId, agentId, status, registeredAtMs, heartbeatInterval, epoch, card } = row;
  const registeredAt = new Date(registeredAtMs).toISOString();
  return {
    registrationId,
    agentId,
    status,
    registeredAt,
    heartbeatInterval,
    epoch,
    ...(card ? { card: toCard(card) } : {}),
  };
}

/** An agent as whoever asks for it alone sees it. */
export function toAnswer(agent: AgentRecord): AgentAnswer {
  const { publicKey, voteKey, card } = agent;
  return {
    agentId: agent.agentId,
    registrationId: agent.registrationId,
    ownerId: agent.ownerId,
    capabilities: [...agent.capabilities],
    metadata: agent.metadata,
    endpoints: toEndpoints(agent),
    status: agent.status,
    load: agent.load,
    idempotent: agent.isIdempotent,
    registeredAt: new Date(agent.registeredAtMs).toISOString(),
    lastSeen: new Date(agent.lastSeenMs).toISOString(),
    heartbeatInterval: agent.heartbeatInterval,
    epoch: agent.epoch,
    ...(publicKey === undefined ? {} : { publicKey }),
    ...(voteKey === undefined ? {} : { voteKey }),
    ...(card ? { card: toCard(card) } : {}),
  };
}

function toCard({ name, version, isVerified }: CardFacts) {
  return { name, ...(version === undefined ? {} : { version }), verified: isVerified };
}

function toEndpoints({ endpoints }: AgentRecord): AgentAnswer['endpoints'] {
  const given = Object.entries(endpoints).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given);
}
