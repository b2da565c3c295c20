import type { CustomFetch } from 'openid-client';
import type { Egress, EgressResponse } from '../../kit/egress/egress.ts';
import { Fault } from '../../kit/errors.ts';

/** How long a provider may take for one request. */
export const providerTimeoutMs = 10_000;

const bytesMax = 1024 * 1024;

export interface ProviderFetchOptions {
  readonly egress: Egress;
  /** Leaves out an `id_token` that nothing could check, so that it is not taken for checked. */
  readonly dropsIdToken: boolean;
}

/**
 * The fetch of the OAuth client: guarded, with a deadline and bounded answers. It follows no redirect:
 * a token request holds the client secret, the code and the verifier.
 */
export function createProviderFetch({ egress, dropsIdToken }: ProviderFetchOptions): CustomFetch {
  return async (url, { method, headers, body, signal }) => {
    const answer = await egress.fetch(url, {
      method,
      headers: { ...headers },
      ...(body === undefined || body === null ? {} : { body: textOf(body) }),
      timeoutMs: providerTimeoutMs,
      responseBytesMax: bytesMax,
      isRedirectFollowed: false,
      signal,
    });
    return toResponse(answer, { dropsIdToken });
  };
}

export interface ResourceRequest {
  readonly accessToken: string;
  readonly timeoutMs?: number | undefined;
}

/**
 * Reads JSON at a provider with a user's token, which no redirect takes elsewhere; throws
 * `idp_login_required` when the provider refuses the token or its user, `provider_error` when it fails.
 */
export async function fetchResource(
  egress: Egress,
  url: string,
  { accessToken, timeoutMs = providerTimeoutMs }: ResourceRequest,
): Promise<{ readonly content: unknown; readonly headers: Headers }> {
  const headers = { authorization: `Bearer ${accessToken}`, accept: 'application/json' };
  const answer = await egress
    .fetch(url, { headers, timeoutMs, responseBytesMax: bytesMax, isRedirectFollowed: false })
    .catch((error: unknown) => {
      throw unreachable(error);
    });
  if (isRefusal(answer)) throw idpLoginRequired();
  if (answer.status !== 200) throw providerError(`answered ${answer.status}`);
  return { content: contentOf(answer), headers: answer.headers };
}

function contentOf(answer: EgressResponse): unknown {
  try {
    return answer.json();
  } catch (error) {
    throw providerError('answered what is no JSON', error);
  }
}

/**
 * Whether an answer is about the user: no good token, one of somebody blocked (403) or deleted (404).
 * A limit on requests that is told with 403, or a scope that is asked for since (RFC 6750, section
 * 3.1), says nothing of a user.
 */
function isRefusal({ status, headers }: Pick<EgressResponse, 'status' | 'headers'>): boolean {
  if (status !== 403) return status === 401 || status === 404;
  const isLimit = headers.has('retry-after') || headers.get('x-ratelimit-remaining') === '0';
  const challenge = headers.get('www-authenticate') ?? '';
  return !isLimit && !challenge.includes('insufficient_scope');
}

/** The refusal when the provider no longer gives tokens for a user, who has to log in there again. */
export function idpLoginRequired(cause?: unknown): Fault {
  return new Fault('unauthenticated', 'log in at the identity provider again', {
    reason: 'idp_login_required',
    detail: { reason: 'idp_login_required' },
    cause,
  });
}

/** Whether a provider refuses a user or gives no more tokens for one, rather than no answer. */
export function isLoginRequired(error: unknown): boolean {
  return error instanceof Fault && error.reason === 'idp_login_required';
}

/** The provider answered what cannot be used. */
export function providerError(what: string, cause?: unknown): Fault {
  return new Fault('upstream', `the identity provider ${what}`, {
    reason: 'provider_error',
    cause,
  });
}

/** The refusal of a provider that gave no answer, or one that points elsewhere. */
export function unreachable(cause: unknown): Fault {
  const isRedirect = cause instanceof Fault && cause.reason === 'redirect_refused';
  return providerError(isRedirect ? 'redirects, which is refused' : 'cannot be reached', cause);
}

function textOf(body: unknown): string {
  if (typeof body === 'string') return body;
  if (body instanceof URLSearchParams) return body.toString();
  throw new Error('the OAuth client sends a body that is no form');
}

function toResponse(answer: EgressResponse, { dropsIdToken }: { dropsIdToken: boolean }): Response {
  const { status, headers, body } = answer;
  const isEmpty = status === 204 || status === 205 || status === 304;
  const text = dropsIdToken ? withoutIdToken(body) : body;
  headers.delete('content-length');
  return new Response(isEmpty ? null : new Uint8Array(text), { status, headers });
}

function withoutIdToken(body: Buffer): Buffer {
  try {
    const content: unknown = JSON.parse(body.toString('utf8'));
    if (typeof content !== 'object' || content === null || !('id_token' in content)) return body;
    const { id_token: _unchecked, ...rest } = content;
    return Buffer.from(JSON.stringify(rest));
  } catch {
    return body;
  }
}
