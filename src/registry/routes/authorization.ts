import { Fault } from '../../kit/errors.ts';
import type { Handler } from '../../kit/http/call.ts';
import type { Authorizations } from '../authorization/authorizations.ts';
import type { Directory } from '../connections/connection.ts';
import type { Learning } from '../links/learning.ts';
import type { authorizationRoutes as routes } from '../schemas/authorization.ts';

type AuthorizationHandlers = { readonly [K in keyof typeof routes]: Handler<(typeof routes)[K]> };

export interface AuthorizationHandlerParts {
  readonly authorizations: Pick<Authorizations, 'begin' | 'finish' | 'remove'>;
  readonly learning: Pick<Learning, 'drift' | 'accept'>;
  readonly directory: Pick<Directory, 'find'>;
}

/** The edge of what servers ask of the registry and the registry of servers. */
export function authorizationHandlers(parts: AuthorizationHandlerParts): AuthorizationHandlers {
  const { authorizations, learning, directory } = parts;
  return {
    authorizeConnection: async ({ params: { connectionId }, body }) => {
      const begun = await authorizations.begin(connectionId, body);
      return { connectionId, authorized: false, ...begun };
    },
    finishAuthorization: async ({ query: { state = '', ...answer } }) => {
      try {
        const { name } = await authorizations.finish({ state, ...answer });
        return page(200, `The registry may call "${name}" now. This window can be closed.`);
      } catch (error) {
        const fault = Fault.from(error);
        return page(fault.status, `It did not work: ${fault.message}.`);
      }
    },
    removeAuthorization: async ({ params: { connectionId } }) => {
      requireConnection(directory, connectionId);
      return { connectionId, removed: await authorizations.remove(connectionId) };
    },
    readDrift: ({ params: { connectionId } }) => {
      const { pins, tools } = learning.drift(connectionId);
      const quarantined = new Set(directory.find(connectionId)?.quarantined);
      return {
        connectionId,
        ...(pins ? { pinnedAt: new Date(pins.pinnedAtMs).toISOString() } : {}),
        tools: tools.map((tool) => ({ ...tool, quarantined: quarantined.has(tool.name) })),
      };
    },
    acceptTools: async ({ identity, params: { connectionId }, body }) => ({
      connectionId,
      accepted: [...(await learning.accept(connectionId, identity.subject, body.tools))],
    }),
  };
}

function requireConnection(directory: Pick<Directory, 'find'>, connectionId: string): void {
  if (directory.find(connectionId)) return;
  const options = { reason: 'connection_not_found', detail: { connectionId } };
  throw new Fault('not_found', 'there is no such connection', options);
}

/** Plain text: nothing that a server or a browser sent can become markup. */
function page(status: number, text: string): Response {
  return new Response(`${text}\n`, {
    status,
    headers: {
      'content-type': 'text/plain; charset=utf-8',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
    },
  });
}
