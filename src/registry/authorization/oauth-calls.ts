import type { FetchLike } from '@modelcontextprotocol/client';
import type { Egress } from '../../kit/egress/egress.ts';
import { Fault } from '../../kit/errors.ts';

export type OAuthOptions = Omit<
  Parameters<typeof import('@modelcontextprotocol/client').auth>[1],
  'serverUrl'
>;

const timeoutMs = 10_000;
const bytesMax = 256 * 1024;
const errorName = /^[\w.-]{1,64}$/;
const descriptionLengthMax = 500;
const authorizationServerAwayReason = 'authorization_server_away';

/** `fetch` for metadata and tokens: guarded, bounded, and no secret follows a redirect. */
export function oauthFetch(egress: Pick<Egress, 'fetch'>): FetchLike {
  return async (url, init = {}) => {
    const method = init.method ?? 'GET';
    const answer = await egress.fetch(String(url), {
      method,
      headers: Object.fromEntries(new Headers(init.headers)),
      ...(init.body === undefined || init.body === null ? {} : { body: textOf(init.body) }),
      timeoutMs,
      responseBytesMax: bytesMax,
      isRedirectFollowed: method === 'GET',
    });
    const { status, headers } = answer;
    const isBodied = status >= 200 && status !== 204 && status !== 304;
    return new Response(isBodied ? answer.text() : null, { status, headers });
  };
}

/** A `fetch`, and whether the last that was asked with it gave no answer, or none but that it is out of order. */
export class WatchedFetch {
  isUnanswered = false;
  readonly #fetch: FetchLike;

  constructor(fetch: FetchLike) {
    this.#fetch = fetch;
  }

  readonly fetch: FetchLike = async (url, init) => {
    this.isUnanswered = true;
    const answer = await this.#fetch(url, init);
    this.isUnanswered = answer.status >= 500;
    return answer;
  };
}

/** Nobody has to log in anew for this: the login may be as good as before. */
export function authorizationServerAway(cause: unknown): Fault {
  const message = 'the authorization server cannot be reached to renew the access';
  return new Fault('upstream', message, { reason: authorizationServerAwayReason, cause });
}

export function isAuthorizationServerAway(error: unknown): boolean {
  return error instanceof Fault && error.reason === authorizationServerAwayReason;
}

/** What GitHub says, with 200, where RFC 6749 section 5.2 has `invalid_grant` for a refresh token. */
const spentTokenError = 'bad_refresh_token';

/** Whether a refresh token was refused for good, in other words than the SDK knows. */
export function isOfSpentToken(error: unknown): boolean {
  return error instanceof Fault && error.detail['error'] === spentTokenError;
}

/** What the server says of its authorization when it is asked without (RFC 9728 section 5.1). */
export async function askChallenge(
  egress: Pick<Egress, 'fetch'>,
  url: string,
): Promise<{ readonly resourceMetadataUrl?: URL; readonly scope?: string }> {
  const { extractWWWAuthenticateParams } = await import('@modelcontextprotocol/client');
  const answer = await egress.fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'ping' }),
    timeoutMs,
    responseBytesMax: bytesMax,
  });
  if (answer.status !== 401) return {};
  const { status, headers } = answer;
  const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(
    new Response(null, { status, headers }),
  );
  return {
    ...(resourceMetadataUrl ? { resourceMetadataUrl } : {}),
    ...(scope === undefined ? {} : { scope }),
  };
}

/** The answer of an authorization server that leads no further. */
export function unusable(cause?: unknown): Fault {
  return new Fault('upstream', 'the authorization server gave no usable answer', {
    reason: 'authorization_failed',
    cause,
  });
}

/** A Fault stays; what the authorization server or its metadata did wrong is `upstream`. */
export function toAuthorizationFault(error: unknown): Fault {
  if (error instanceof Fault) return error;
  if (error instanceof Error && error.cause instanceof Fault) return error.cause;
  const name = error instanceof Error ? error.name : '';
  const reason = 'authorization_failed';
  if (name.startsWith('IssuerMismatch')) {
    const message = 'the answer came from another authorization server than was asked';
    return new Fault('invalid', message, { reason, cause: error });
  }
  const refusal = refusalOf(error);
  if (!refusal) return unusable(error);
  const message = `the authorization server refused: ${refusal.error}`;
  return new Fault('upstream', message, { reason, detail: { ...refusal }, cause: error });
}

/** The answer to who sent somebody to log in, who came back without a code. */
export function loginRefused(error: string | undefined): Fault {
  const isNamed = error !== undefined && errorName.test(error);
  return new Fault('invalid', `the login was refused${isNamed ? `: ${error}` : ''}`, {
    reason: 'login_refused',
    detail: isNamed ? { error } : {},
  });
}

/** In the words of OAuth (RFC 6749 section 5.2, RFC 7591 section 3.2.2). */
interface Refusal {
  readonly error: string;
  readonly description?: string;
}

function refusalOf(thrown: unknown): Refusal | undefined {
  if (!(thrown instanceof Error)) return undefined;
  // Of an answer in other words than OAuth's the SDK makes a server error that quotes all of it.
  const isOAuth =
    thrown.name === 'OAuthError' && 'code' in thrown && thrown.code !== 'server_error';
  if (isOAuth) return toRefusal(thrown.code, thrown.message);
  const isRegistration = 'submittedMetadata' in thrown && 'body' in thrown;
  const body = isRegistration ? parseObject(thrown.body) : {};
  return toRefusal(body['error'], body['error_description']);
}

function toRefusal(error: unknown, described: unknown): Refusal | undefined {
  if (typeof error !== 'string' || !errorName.test(error)) return undefined;
  const isTold = typeof described === 'string' && described !== error;
  return { error, ...(isTold ? { description: described.slice(0, descriptionLengthMax) } : {}) };
}

function parseObject(text: unknown): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(String(text)));
  } catch {
    return {};
  }
}

function textOf(body: unknown): string {
  if (typeof body === 'string') return body;
  if (body instanceof URLSearchParams) return body.toString();
  throw new Fault('internal', 'a request body of another kind than was expected');
}
