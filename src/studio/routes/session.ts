import type { authContract } from '../../auth/contract.ts';
import type { Client } from '../../kit/client.ts';
import type { Handler } from '../../kit/http/call.ts';
import { endedSessionCookie, sessionCookie } from '../../kit/http/session-cookie.ts';
import { vouchFor } from '../../kit/http/vouching.ts';
import type { Authenticator } from '../../kit/identity/authenticator.ts';
import type { Identity } from '../../kit/identity/identity.ts';
import type { ServiceToken } from '../../kit/identity/service-token.ts';
import { allows } from '../../kit/permissions.ts';
import type { sessionRoutes as routes } from '../schemas/session.ts';

type Handlers = { readonly [K in keyof typeof routes]: Handler<(typeof routes)[K]> };

export interface SessionParts {
  /** The authentication service, called with a credential or as nobody. */
  readonly authAs: (
    credential?: string,
  ) => Pick<Client<typeof authContract>, 'login' | 'endSession'>;
  readonly authenticator: Pick<Authenticator, 'identify'>;
  /** The studio's own, which tells the authentication service whose login it is. */
  readonly ownToken: Pick<ServiceToken, 'get' | 'forget'>;
  /** Whether the service is reached over TLS. */
  readonly isSecure: boolean;
}

const clientId = 'ennead-studio';

/** The edge of logging in and out. */
export function sessionHandlers(parts: SessionParts): Handlers {
  const { authAs, authenticator, ownToken, isSecure } = parts;
  return {
    login: async (call) => {
      const { otp, ...credentials } = call.body;
      const grant = { ...credentials, client_id: clientId, grant_type: 'password' };
      const body = otp === undefined ? grant : { ...grant, otp };
      const { signal, span: parent } = call;
      const tokens = await vouchFor(call.origin, ownToken, (headers) =>
        authAs().login({ body }, { signal, parent, headers }),
      );
      const { access_token, expires_in } = tokens;
      const cookie = { maxAgeSeconds: expires_in, isSecure };
      call.setHeader('set-cookie', sessionCookie(access_token, cookie));
      call.setHeader('cache-control', 'no-store');
      const user = shown(await authenticator.identify(access_token));
      return { ...tokens, user };
    },
    logout: async (call) => {
      const { identity, credential, origin, signal, span: parent } = call;
      call.setHeader('set-cookie', endedSessionCookie(isSecure));
      // An API key is no session, and stays what it is.
      if (identity.kind === 'user' && credential.includes('.')) {
        const params = { id: identity.sessionId };
        await vouchFor(origin, ownToken, (headers) =>
          authAs(credential).endSession({ params }, { signal, parent, headers }),
        );
      }
      return { success: true as const };
    },
    me: ({ identity }) => shown(identity),
  };
}

function shown({ subject, name, email, roles, permissions }: Identity) {
  return {
    id: subject,
    ...(name === undefined ? {} : { name }),
    ...(email === undefined ? {} : { email }),
    roles: [...roles],
    permissions: [...permissions],
    ...(allows(permissions, 'studio:admin') ? { role: 'Admin' as const } : {}),
  };
}
