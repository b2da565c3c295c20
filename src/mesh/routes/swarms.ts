import type { Handler } from '../../kit/http/call.ts';
import { allows } from '../../kit/permissions.ts';
import type { swarmRoutes as routes } from '../schemas/swarms.ts';
import { toReceipt, toStatus, toSwarm } from '../swarms/answers.ts';
import { toSwarmRequest } from '../swarms/request.ts';
import type { Swarms } from '../swarms/swarms.ts';

type SwarmHandlers = { readonly [K in keyof typeof routes]: Handler<(typeof routes)[K]> };

export interface SwarmHandlerParts {
  readonly swarms: Swarms;
}

/** The edge of the swarms. */
export function swarmHandlers({ swarms }: SwarmHandlerParts): SwarmHandlers {
  return {
    createSwarm: async ({ body, identity }) =>
      toSwarm(await swarms.create(toSwarmRequest(body), identity)),
    listSwarms: async ({ query }) => {
      const { swarms: found, total } = await swarms.list(query);
      const { limit, offset } = query;
      return {
        swarms: found.map(({ createdAt, expiresAt, agents, ...summary }) => ({
          ...summary,
          agents: [...agents],
          createdAt: createdAt.toISOString(),
          expiresAt: expiresAt.toISOString(),
          consensusReached: summary.status === 'consensus-reached',
        })),
        total,
        limit,
        offset,
      };
    },
    readSwarmStatus: async ({ params }) => toStatus(await swarms.read(params.swarmId)),
    castSwarmVote: async ({ params, body, identity }) =>
      toReceipt(body, await swarms.vote(params.swarmId, body, identity)),
    joinSwarm: async ({ params, body, identity }) =>
      toSwarm(await swarms.join(params.swarmId, body.agentId, identity)),
    cancelSwarm: async ({ params, identity }) => {
      const isAdmin = allows(identity.permissions, 'mesh:admin');
      return toSwarm(await swarms.cancel(params.swarmId, identity, isAdmin));
    },
  };
}
