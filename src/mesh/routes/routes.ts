import type { Handlers } from '../../kit/http/call.ts';
import type { meshContract } from '../contract.ts';
import type { MeshParts } from '../parts.ts';
import { a2aHandlers } from './a2a.ts';
import { activityHandlers } from './activity.ts';
import { agentHandlers } from './agents.ts';
import { attestationHandlers } from './attestation.ts';
import { certificateHandlers } from './certificates.ts';
import { swarmHandlers } from './swarms.ts';
import { taskHandlers } from './tasks.ts';

/** The HTTP edge of the mesh. */
export function meshHandlers(parts: MeshParts): Handlers<typeof meshContract> {
  const { host, activity, metrics, registry, tasks, swarms, attestation, authority } = parts;
  return {
    ...agentHandlers({
      registry,
      metrics,
      revokeAll: (agentId, reason) => attestation.attestations.revokeAll(agentId, reason),
      agentGone: (agentId) => tasks.agentGone(agentId),
    }),
    ...taskHandlers({ tasks: tasks.runner, access: tasks.access, inbox: tasks.inbox }),
    ...swarmHandlers({ swarms }),
    ...attestationHandlers(attestation),
    ...certificateHandlers({
      authority,
      ownerOf: (agentId) => registry.ownerOf(agentId),
      activity,
    }),
    ...a2aHandlers({
      a2a: tasks.a2a,
      url: host.url,
      version: host.health().version,
      listCapabilities: () => registry.directory.capabilities(),
    }),
    ...activityHandlers({
      metrics,
      health: () => host.health(),
      statuses: () => statusesOf(parts),
    }),
  };
}

/** Each part is asked for something that it cannot answer when it does not work. */
async function statusesOf({ host, swarmCount, authority, grpc: server }: MeshParts) {
  const [registry, swarm] = await Promise.all([
    works(() => host.database.ping()),
    works(() => swarmCount.refresh()),
  ]);
  const isTrusted = authority.rootExpiresAtMs > Date.now();
  const grpc = server.isServing && isTrusted ? 'healthy' : 'unhealthy';
  return { grpc, registry, swarm, acap: registry };
}

async function works(ask: () => Promise<unknown>): Promise<string> {
  try {
    await ask();
    return 'healthy';
  } catch {
    return 'unhealthy';
  }
}
