import { authContract } from '../../auth/contract.ts';
import { createClient } from '../../kit/client.ts';
import type { Handlers } from '../../kit/http/call.ts';
import type { studioContract } from '../contract.ts';
import type { StudioParts } from '../parts.ts';
import { agentHandlers } from './agents.ts';
import { fileHandlers } from './files.ts';
import { sessionHandlers, type SessionParts } from './session.ts';
import { syncHandlers } from './sync.ts';
import { taskHandlers } from './tasks.ts';
import { workspaceHandlers } from './workspaces.ts';

/** The HTTP edge of the studio. */
export function studioHandlers(parts: StudioParts): Handlers<typeof studioContract> {
  const { host, workspaces, agentParts, tasks } = parts;
  return {
    health: () => host.health(),
    ...sessionHandlers(sessionParts(host)),
    ...workspaceHandlers(workspaces),
    ...fileHandlers(parts),
    ...syncHandlers(parts),
    ...agentHandlers({ ...agentParts, tasks }),
    ...taskHandlers({ tasks }),
  };
}

function sessionParts(host: StudioParts['host']): SessionParts {
  const { peers, tracer, authenticator, ownToken, url } = host;
  const auth = peers.find(({ name }) => name === authContract.name);
  return {
    authAs: (credential) =>
      createClient(authContract, {
        baseUrl: auth?.url ?? '',
        tracer,
        ...(credential === undefined ? {} : { token: async () => credential }),
      }),
    authenticator,
    ownToken,
    isSecure: url.startsWith('https:'),
  };
}
