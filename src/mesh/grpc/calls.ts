import { Type, type TSchema } from 'typebox';
import { agentRoutes } from '../schemas/agents.ts';
import { attestationRoutes } from '../schemas/attestation.ts';
import { swarmRoutes } from '../schemas/swarms.ts';
import { taskRoutes } from '../schemas/tasks.ts';
import type { ServiceName } from './definition.ts';
import type { OperationName } from './mesh-operations.ts';

/** One method of a service. */
export interface MeshCall {
  readonly operation: OperationName;
  /** The request speaks for `agentId`, which must be the certificate's. */
  readonly isClaim: boolean;
  /** What the request must be like: the same as over REST, wherever that has it. */
  readonly request: TSchema;
}

const { registerAgent, discoverAgents } = agentRoutes;
const { createSwarm, castSwarmVote, joinSwarm, readSwarmStatus } = swarmRoutes;
const { attestCapability, verifyCapability, revokeAttestation } = attestationRoutes;
const { swarmId } = readSwarmStatus.schema.params.properties;

const deregistration = Type.Object({
  agentId: agentRoutes.getAgent.schema.params.properties.agentId,
  reason: Type.Optional(Type.String({ maxLength: 256 })),
});
const swarmVote = Type.Object({ swarmId, ...castSwarmVote.schema.body.properties });
const swarmJoin = Type.Object({ swarmId, ...joinSwarm.schema.body.properties });

/** All methods of the three services, by their names in `proto/mesh.proto`. */
export const grpcCalls: Readonly<Record<ServiceName, Readonly<Record<string, MeshCall>>>> = {
  AgentCommunication: {
    RegisterAgent: { operation: 'register', isClaim: true, request: registerAgent.schema.body },
    DiscoverAgents: { operation: 'discover', isClaim: false, request: discoverAgents.schema.body },
    ExecuteTask: {
      operation: 'execute',
      isClaim: false,
      request: taskRoutes.executeTask.schema.body,
    },
    Deregister: { operation: 'deregister', isClaim: true, request: deregistration },
  },
  SwarmCoordination: {
    CreateSwarm: { operation: 'createSwarm', isClaim: false, request: createSwarm.schema.body },
    JoinSwarm: { operation: 'joinSwarm', isClaim: true, request: swarmJoin },
    VoteOnTask: { operation: 'vote', isClaim: true, request: swarmVote },
    GetSwarmStatus: {
      operation: 'swarmStatus',
      isClaim: false,
      request: readSwarmStatus.schema.params,
    },
  },
  ACAPProtocol: {
    AttestCapability: { operation: 'attest', isClaim: true, request: attestCapability.schema.body },
    VerifyCapability: {
      operation: 'verify',
      isClaim: false,
      request: verifyCapability.schema.body,
    },
    RevokeAttestation: {
      operation: 'revoke',
      isClaim: false,
      request: revokeAttestation.schema.body,
    },
  },
};
