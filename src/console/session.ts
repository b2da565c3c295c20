import type { FastifyInstance } from 'fastify';
import type { authContract } from '../auth/contract.ts';
import type { Client } from '../kit/client.ts';
import { Fault } from '../kit/errors.ts';
import { originOf } from '../kit/http/call.ts';
import { vouchFor } from '../kit/http/vouching.ts';
import type { ServiceToken } from '../kit/identity/service-token.ts';
import { isOverTls, requireOwnPage } from './own-page.ts';
import {
  accessTokenOf,
  forgetSession,
  keepSession,
  nobody,
  peekRefreshToken,
  refreshTokenOf,
  sessionPath,
} from './session-cookies.ts';

export type AuthClient = Pick<
  Client<typeof authContract>,
  'login' | 'refresh' | 'revoke' | 'userInfo' | 'loginMethods' | 'oauthAuthorize' | 'oauthToken'
>;

export interface SessionParts {
  /** The authentication service, called with a credential or as nobody. */
  readonly authAs: (credential?: string) => AuthClient;
  /** The console's own, which tells the authentication service whose login it is. */
  readonly ownToken: Pick<ServiceToken, 'get' | 'forget'>;
}

/** Who asks for tokens, by the name that stands in them. */
export const clientId = 'ennead-console';
export const untraced = { trace: 'none' } as const;

const loginBody = {
  type: 'object',
  required: ['username', 'password'],
  properties: {
    username: { type: 'string', minLength: 1, maxLength: 1_024 },
    password: { type: 'string', minLength: 1, maxLength: 1_024 },
    otp: { type: 'string', maxLength: 64 },
  },
} as const;

interface Login {
  readonly username: string;
  readonly password: string;
  readonly otp?: string;
}

/** The session of a browser: logins by password, renewal, and its end. */
export function serveSession(app: FastifyInstance, { authAs, ownToken }: SessionParts): void {
  app.addHook('onSend', async (request, reply) => {
    if (request.url.startsWith(sessionPath)) reply.header('cache-control', 'no-store');
  });

  app.post<{ Body: Login }>(sessionPath, { schema: { body: loginBody } }, async (call, reply) => {
    requireOwnPage(call);
    const body = { ...call.body, client_id: clientId, grant_type: 'password' };
    const tokens = await vouchFor(originOf(call), ownToken, (headers) =>
      authAs().login({ body }, { ...untraced, headers }),
    );
    keepSession(reply, tokens, isOverTls(call));
    return await authAs(tokens.access_token).userInfo({}, untraced);
  });

  app.get(sessionPath, async (call) => {
    return await authAs(accessTokenOf(call)).userInfo({}, untraced);
  });

  app.post(`${sessionPath}/refresh`, async (call, reply) => {
    requireOwnPage(call);
    const body = { refresh_token: refreshTokenOf(call), grant_type: 'refresh_token' };
    try {
      const renew = (headers: Readonly<Record<string, string>>) =>
        authAs().refresh({ body }, { ...untraced, headers });
      keepSession(reply, await vouchFor(originOf(call), ownToken, renew), isOverTls(call));
    } catch (error) {
      // Nobody has said that the session is over.
      const { status } = Fault.from(error);
      if (status === 429 || status >= 500) throw error;
      forgetSession(reply, isOverTls(call));
      throw nobody(error);
    }
    return { success: true };
  });

  app.delete(sessionPath, async (call, reply) => {
    requireOwnPage(call);
    forgetSession(reply, isOverTls(call));
    const token = peekRefreshToken(call);
    if (token) await authAs(accessTokenOf(call)).revoke({ body: { token } }, untraced);
    return { success: true };
  });
}
