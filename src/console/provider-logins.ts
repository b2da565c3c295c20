import { createHash, randomBytes } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Fault } from '../kit/errors.ts';
import { originOf } from '../kit/http/call.ts';
import { toReturnPath } from '../kit/http/return-path.ts';
import { vouchFor } from '../kit/http/vouching.ts';
import { requireOwnPage } from './own-page.ts';
import { clientId, untraced, type SessionParts } from './session.ts';
import { keepSession, sessionPath } from './session-cookies.ts';

/** Where identity providers send browsers back to; it has to be registered at provider and auth. */
export const callbackPath = `${sessionPath}/callback`;

const lifeSeconds = 600;

const beginBody = {
  type: 'object',
  required: ['provider'],
  properties: {
    provider: { type: 'string', minLength: 1, maxLength: 64 },
    to: { type: 'string', maxLength: 2_048 },
  },
} as const;

const callbackQuery = {
  type: 'object',
  properties: {
    code: { type: 'string', maxLength: 4_096 },
    state: { type: 'string', maxLength: 1_024 },
    iss: { type: 'string', maxLength: 2_048 },
    error: { type: 'string', maxLength: 256 },
  },
} as const;

interface Beginning {
  readonly provider: string;
  /** The path to go on at. */
  readonly to?: string;
}

/** What a provider answers through the browser (RFC 6749, 4.1.2; RFC 9207). */
interface Callback {
  readonly code?: string;
  readonly state?: string;
  readonly iss?: string;
  readonly error?: string;
}

/** A login that has begun, as the browser keeps it in a cookie until it comes back. */
interface Begun {
  readonly state: string;
  readonly verifier: string;
  readonly redirectUri: string;
  readonly to: string;
}

/** Logins through the identity providers of auth, with a verifier that the browser keeps (RFC 7636). */
export function serveProviderLogins(
  app: FastifyInstance,
  { authAs, ownToken }: SessionParts,
): void {
  app.get(`${sessionPath}/methods`, async () => await authAs().loginMethods({}, untraced));

  app.post<{ Body: Beginning }>(
    `${sessionPath}/provider`,
    { schema: { body: beginBody } },
    async (call, reply) => {
      requireOwnPage(call);
      const begun = begin(call);
      const query = {
        provider: call.body.provider,
        response_type: 'code',
        client_id: clientId,
        redirect_uri: begun.redirectUri,
        state: begun.state,
        code_challenge: createHash('sha256').update(begun.verifier).digest('base64url'),
        code_challenge_method: 'S256',
      };
      const { location } = await vouchFor(originOf(call), ownToken, (headers) =>
        authAs().oauthAuthorize({ query }, { ...untraced, headers }),
      );
      reply.header('set-cookie', loginCookie(begun));
      return { location };
    },
  );

  app.get<{ Querystring: Callback }>(
    callbackPath,
    { schema: { querystring: callbackQuery } },
    async (call, reply) => {
      const begun = readBegun(call);
      reply.header('set-cookie', loginCookie(begun, 0));
      try {
        const { redirectUri, verifier, to } = requireBegun(begun, call.query);
        const { code, iss } = call.query;
        const body = {
          grant_type: 'authorization_code',
          client_id: clientId,
          redirect_uri: redirectUri,
          code_verifier: verifier,
          ...(code === undefined ? {} : { code }),
          ...(iss === undefined ? {} : { iss }),
        };
        const tokens = await vouchFor(originOf(call), ownToken, (headers) =>
          authAs().oauthToken({ body }, { ...untraced, headers }),
        );
        keepSession(reply, tokens, isSecure(redirectUri));
        return await reply.redirect(to, 303);
      } catch (error) {
        const { code, reason = code } = Fault.from(error);
        return await reply.redirect(`/?${new URLSearchParams({ login_failed: reason })}`, 303);
      }
    },
  );
}

function begin({ headers: { origin }, body }: FastifyRequest<{ Body: Beginning }>): Begun {
  if (origin === undefined) {
    throw new Fault('invalid', 'a login through a provider begins in a browser', {
      reason: 'origin_missing',
    });
  }
  return {
    state: randomBytes(32).toString('base64url'),
    verifier: randomBytes(32).toString('base64url'),
    redirectUri: origin + callbackPath,
    to: toReturnPath(body.to),
  };
}

/** Throws where the browser did not begin this login, or the provider refused it. */
function requireBegun(begun: Begun | undefined, { state, error }: Callback): Begun {
  if (begun === undefined || begun.state !== state) {
    throw new Fault('invalid', 'this browser began no such login', { reason: 'login_not_begun' });
  }
  if (error === undefined) return begun;
  throw new Fault('forbidden', 'the identity provider refused the login', {
    reason: error === 'access_denied' ? error : 'provider_error',
  });
}

/** Sent with the navigation that comes back from the provider, and nowhere else. */
function loginCookie(begun: Begun | undefined, maxAgeSeconds = lifeSeconds): string {
  const isEnded = begun === undefined || maxAgeSeconds === 0;
  const value = isEnded ? '' : Buffer.from(JSON.stringify(begun)).toString('base64url');
  const secure = begun && isSecure(begun.redirectUri) ? '; Secure' : '';
  return `login=${value}; Path=${callbackPath}; HttpOnly; SameSite=Lax; Max-Age=${maxAgeSeconds}${secure}`;
}

function readBegun({ headers }: FastifyRequest): Begun | undefined {
  const value = /(?:^|;\s*)login=([\w-]+)/.exec(headers.cookie ?? '')?.[1];
  if (value === undefined) return undefined;
  try {
    const { state, verifier, redirectUri, to } = JSON.parse(
      Buffer.from(value, 'base64url').toString(),
    ) as Readonly<Record<keyof Begun, unknown>>;
    const isWhole = [state, verifier, redirectUri, to].every((part) => typeof part === 'string');
    // Checked in the line above.
    return isWhole
      ? ({ state, verifier, redirectUri, to: toReturnPath(to as string) } as Begun)
      : undefined;
  } catch {
    return undefined;
  }
}

function isSecure(redirectUri: string): boolean {
  return redirectUri.startsWith('https:');
}
