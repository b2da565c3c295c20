import type { IncomingMessage } from 'node:http';
import { invalidToken } from '../identity/claims.ts';
import { Fault } from '../errors.ts';
import { headerOf, type EdgeRequest } from './exchange.ts';

export interface CredentialRules {
  /** The cookie `session` counts as a token. */
  readonly acceptsSessionCookie: boolean;
  /** `?access_token=` counts as a token: WebSockets only, because queries are logged. */
  readonly acceptsQueryToken: boolean;
  /** What a read begins is more than a read, so that a cookie needs an origin there too. */
  readonly checksOriginOfReads?: boolean;
}

const bearerPrefix = 'Bearer ';
const bearerPattern = /^bearer ([A-Za-z0-9._~+/=-]+)$/i;
const safeMethods = new Set(['GET', 'HEAD']);

/**
 * The caller's credential: `Authorization: Bearer` (RFC 6750, section 2.1), else `X-API-Key`, else what the
 * rules add. Throws `unauthenticated` when there is none or it is malformed.
 */
export function readCredential(request: IncomingMessage, rules: CredentialRules): string {
  const { authorization } = request.headers;
  if (authorization !== undefined) return readBearer(request, authorization);
  const apiKey = request.headers['x-api-key'];
  if (typeof apiKey === 'string' && apiKey !== '') return apiKey;
  const other =
    (rules.acceptsQueryToken ? readQueryToken(request) : undefined) ??
    (rules.acceptsSessionCookie ? readSessionCookie(request, rules) : undefined);
  if (other) return other;
  throw invalidToken('a token is needed: Authorization: Bearer <token>', 'token_missing');
}

/**
 * What stands behind `Bearer` in the only Authorization header, whatever its form: only for looking up
 * what was found good before.
 */
export function peekBearer(request: EdgeRequest): string | undefined {
  const authorization = headerOf(request, 'authorization');
  if (!authorization?.startsWith(bearerPrefix)) return undefined;
  if (!request.head && countHeader(request.raw, 'authorization') > 1) return undefined;
  return authorization.slice(bearerPrefix.length);
}

/** The token of `Bearer <token>`; whatever is written otherwise, with two spaces too, has none. */
export function bearerTokenOf(authorization: string): string | undefined {
  return bearerPattern.exec(authorization)?.[1];
}

function readBearer(request: IncomingMessage, authorization: string): string {
  const token = bearerTokenOf(authorization);
  if (!token || countHeader(request, 'authorization') > 1) {
    throw invalidToken('the Authorization header is malformed', 'header_malformed');
  }
  return token;
}

function countHeader(request: IncomingMessage, name: string): number {
  let count = 0;
  for (let at = 0; at < request.rawHeaders.length; at += 2) {
    const raw = request.rawHeaders[at];
    if (raw?.length === name.length && raw.toLowerCase() === name) count += 1;
  }
  return count;
}

function readQueryToken(request: IncomingMessage): string | undefined {
  const query = request.url?.split('?')[1];
  const tokens = query ? new URLSearchParams(query).getAll('access_token') : [];
  if (tokens.length > 1)
    throw invalidToken('access_token stands twice in the query', 'header_malformed');
  return tokens[0];
}

/** The session cookie; a write or an upgrade also needs an Origin that is the service itself. */
function readSessionCookie(
  request: IncomingMessage,
  { checksOriginOfReads = false }: CredentialRules,
): string | undefined {
  const cookie = /(?:^|;\s*)session=([^;]+)/.exec(request.headers.cookie ?? '')?.[1];
  if (!cookie) return undefined;
  const isRead = safeMethods.has(request.method ?? '') && !request.headers.upgrade;
  if ((checksOriginOfReads || !isRead) && !isSameOrigin(request)) {
    throw new Fault('forbidden', 'a session cookie is taken from the same origin only', {
      reason: 'origin_refused',
    });
  }
  return decodeCookie(cookie);
}

function decodeCookie(cookie: string): string {
  try {
    return decodeURIComponent(cookie);
  } catch {
    throw invalidToken('the session cookie is malformed', 'header_malformed');
  }
}

/**
 * Whether a browser says that a page of this very address asks. Browsers name no origin in a read of the
 * same one, and no page can set `Sec-Fetch-Site`.
 */
export function isSameOrigin({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  const { origin, host } = headers;
  if (origin === undefined) return headers['sec-fetch-site'] === 'same-origin';
  if (!URL.canParse(origin)) return false;
  return new URL(origin).host === host;
}
