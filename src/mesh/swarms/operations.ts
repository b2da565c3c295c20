import type { MeshOperations } from '../grpc/mesh-operations.ts';
import { toReceipt, toStatus, toSwarm } from './answers.ts';
import { toSwarmRequest, type SwarmBody } from './request.ts';
import type { Swarms, VoteRequest } from './swarms.ts';
import type { Voter } from './voter.ts';

type SwarmOperations = Pick<MeshOperations, 'createSwarm' | 'joinSwarm' | 'vote' | 'swarmStatus'>;

/** The swarms as gRPC offers them: the answers are those of REST. */
export function swarmOperations(swarms: Swarms): SwarmOperations {
  return {
    createSwarm: async (request, caller) => {
      // The server has checked its shape by a schema; so has it the vote's.
      const body = request as unknown as SwarmBody;
      return toSwarm(await swarms.create(toSwarmRequest(body), voterOf(caller)));
    },
    joinSwarm: async ({ swarmId, agentId }, caller) =>
      toSwarm(await swarms.join(swarmId, agentId, voterOf(caller))),
    vote: async (request, caller) => {
      const vote = request as unknown as VoteRequest;
      return toReceipt(vote, await swarms.vote(request.swarmId, vote, voterOf(caller)));
    },
    swarmStatus: async ({ swarmId }) => toStatus(await swarms.read(swarmId)),
  };
}

interface Caller {
  readonly agentId: string;
  readonly ownerId: string;
}

function voterOf({ agentId, ownerId }: Caller): Voter {
  return { agentId, subject: ownerId };
}
