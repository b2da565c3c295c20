import type { MeshMetrics } from '../activity/mesh-metrics.ts';
import { toRegistered } from '../agents/answers.ts';
import type { AgentRegistry } from '../agents/registry.ts';
import type { AttestationParts } from '../attestation/parts.ts';
import { swarmOperations } from '../swarms/operations.ts';
import type { Swarms } from '../swarms/swarms.ts';
import { targetOf, taskOf, toOutcome } from '../tasks/task-answers.ts';
import type { TaskParts } from '../tasks/task-parts.ts';
import type { MeshOperations } from './mesh-operations.ts';

export interface OperationParts {
  readonly registry: AgentRegistry;
  readonly tasks: Pick<TaskParts, 'runner' | 'agentGone'>;
  readonly swarms: Swarms;
  readonly attestation: Pick<AttestationParts, 'attestations'>;
  readonly metrics: Pick<MeshMetrics, 'discovered'>;
}

/** What gRPC does: the same as REST, for whoever the certificate names. */
export function meshOperations(parts: OperationParts): MeshOperations {
  const { registry, tasks, swarms, attestation, metrics } = parts;
  const { attestations } = attestation;
  return {
    // The server has checked each request by the schema of REST's body.
    register: async (request, { ownerId }) =>
      toRegistered(await registry.register(ownerId, request)),
    discover: (request) => {
      const startMs = performance.now();
      const found = registry.discovery.discover(request as never);
      metrics.discovered((performance.now() - startMs) / 1000);
      return found;
    },
    execute: async (request, { ownerId, idempotencyKey, signal: gone, traceparent }) => {
      // A caller with a key may come back for the outcome.
      const signal = idempotencyKey === undefined ? gone : undefined;
      const asked = { askedBy: ownerId, idempotencyKey, signal, traceparent };
      const body = request as never;
      return toOutcome(await tasks.runner.run(targetOf(body), taskOf(body), asked));
    },
    deregister: async ({ agentId }, { ownerId }) => {
      await registry.deregister({ subject: ownerId }, agentId);
      await tasks.agentGone(agentId);
      await attestations.revokeAll(agentId, 'the agent was deregistered');
      return { agentId, deregistered: true };
    },
    ...swarmOperations(swarms),
    attest: (request) => attestations.attest(request as never),
    verify: (request) => attestations.verify(request as never),
    revoke: ({ attestationId, ...request }, { agentId }) => {
      const reason = typeof request['reason'] === 'string' ? request['reason'] : undefined;
      return attestations.revoke(attestationId, { reason, by: { agentId, permissions: [] } });
    },
  };
}
