import { decodeJwt } from 'jose';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { authContract } from '../auth/contract.ts';
import type { Client } from '../kit/client.ts';
import { Fault } from '../kit/errors.ts';
import { originOf } from '../kit/http/call.ts';
import { isSameOrigin, readCredential } from '../kit/http/credential.ts';
import { endedSessionCookie, sessionCookie } from '../kit/http/session-cookie.ts';
import { vouchFor } from '../kit/http/vouching.ts';
import type { ServiceToken } from '../kit/identity/service-token.ts';

/** Where a browser logs in, stays logged in and logs out. */
export const sessionPath = '/session';

export type AuthClient = Pick<
  Client<typeof authContract>,
  'login' | 'refresh' | 'revoke' | 'userInfo'
>;

export interface SessionParts {
  /** The authentication service, called with a credential or as nobody. */
  readonly authAs: (credential?: string) => AuthClient;
  /** The console's own, which tells the authentication service whose login it is. */
  readonly ownToken: Pick<ServiceToken, 'get' | 'forget'>;
}

interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly expires_in: number;
}

const clientId = 'ennead-console';
const untraced = { trace: 'none' } as const;

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

/**
 * The session of a browser as two cookies that no script reads: the access token, which the console puts
 * before every call, and the refresh token, which comes back to this path only.
 */
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
    keep(reply, tokens);
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
      keep(reply, await vouchFor(originOf(call), ownToken, renew));
    } catch (error) {
      // Nobody has said that the session is over.
      const { status } = Fault.from(error);
      if (status === 429 || status >= 500) throw error;
      forget(reply);
      throw nobody(error);
    }
    return { success: true };
  });

  app.delete(sessionPath, async (call, reply) => {
    requireOwnPage(call);
    forget(reply);
    const token = peekRefreshToken(call);
    if (token) await authAs(accessTokenOf(call)).revoke({ body: { token } }, untraced);
    return { success: true };
  });
}

function keep(reply: FastifyReply, tokens: Tokens): void {
  const isSecure = isOverTls(reply.request);
  reply.header('set-cookie', [
    sessionCookie(tokens.access_token, { maxAgeSeconds: tokens.expires_in, isSecure }),
    refreshCookie(tokens.refresh_token, secondsLeft(tokens.refresh_token), isSecure),
  ]);
}

function forget(reply: FastifyReply): void {
  const isSecure = isOverTls(reply.request);
  reply.header('set-cookie', [endedSessionCookie(isSecure), refreshCookie('', 0, isSecure)]);
}

/** As the browser sees it: before the console may stand a proxy that ends TLS. */
function isOverTls({ headers: { origin = '' } }: FastifyRequest): boolean {
  return origin.startsWith('https:');
}

function accessTokenOf({ raw }: FastifyRequest): string {
  return readCredential(raw, { acceptsSessionCookie: true, acceptsQueryToken: false });
}

/** Browsers send cookies whoever asks them to, and a login by a stranger's page is one too. */
function requireOwnPage(call: FastifyRequest): void {
  const { origin, 'sec-fetch-site': site } = call.headers;
  const isBrowser = origin !== undefined || site !== undefined;
  if (!isBrowser || isSameOrigin(call)) return;
  throw new Fault('forbidden', 'the console is asked from its own pages only', {
    reason: 'origin_refused',
  });
}

function refreshCookie(token: string, maxAgeSeconds: number, isSecure: boolean): string {
  const secure = isSecure ? '; Secure' : '';
  return `refresh=${token}; Path=${sessionPath}; HttpOnly; SameSite=Strict; Max-Age=${maxAgeSeconds}${secure}`;
}

function refreshTokenOf(call: FastifyRequest): string {
  const token = peekRefreshToken(call);
  if (token) return token;
  throw nobody();
}

function nobody(cause?: unknown): Fault {
  return new Fault('unauthenticated', 'nobody is logged in', { reason: 'session_ended', cause });
}

function peekRefreshToken({ headers }: FastifyRequest): string | undefined {
  return /(?:^|;\s*)refresh=([\w.-]+)/.exec(headers.cookie ?? '')?.[1];
}

function secondsLeft(token: string): number {
  const { exp = 0 } = decodeJwt(token);
  return Math.max(0, Math.floor(exp - Date.now() / 1000));
}
