import { Fault } from '../../kit/errors.ts';
import type { Call } from '../../kit/http/call.ts';
import type { Allowance } from '../../kit/rate-limit.ts';
import type { AuthParts } from '../parts.ts';
import { readRefreshToken, recordRefusal } from '../sessions/refresh-refusals.ts';
import type { RefreshOptions, TokenPair } from '../sessions/sessions.ts';
import { accessLifeSeconds, invalidGrant } from '../tokens/tokens.ts';

const bearer = 'Bearer' as const;

/** A pair of tokens as the interface shows it. */
export function toTokens({ accessToken, refreshToken }: TokenPair) {
  return {
    access_token: accessToken,
    refresh_token: refreshToken,
    token_type: bearer,
    expires_in: accessLifeSeconds,
  };
}

/** Throws `unsupported_grant_type` (RFC 6749, section 5.2). */
export function requireGrantType(given: string, supported: readonly string[]): void {
  if (supported.includes(given)) return;
  throw new Fault('invalid', `grant_type must be ${supported.join(' or ')}`, {
    reason: 'unsupported_grant_type',
    detail: { supported },
  });
}

/** Shows how near the caller is to a limit, allowed or not. */
export function showAllowance(call: Pick<Call, 'setHeader'>, allowance: Allowance): void {
  call.setHeader('x-ratelimit-limit', String(allowance.limit));
  call.setHeader('x-ratelimit-remaining', String(allowance.remaining));
  call.setHeader('x-ratelimit-reset', String(allowance.resetAt));
}

/** Trades a refresh token for the next pair; roles that the user's groups no longer give go first. */
export async function refreshTokens(
  call: Pick<Call, 'setHeader' | 'origin'>,
  request: {
    readonly parts: AuthParts;
    readonly refreshToken: string;
    readonly scope: string | undefined;
    /** Must be the login's own where the caller names one (RFC 6749, section 6). */
    readonly clientId?: string | undefined;
  },
): Promise<TokenPair> {
  const { parts, refreshToken, scope, clientId } = request;
  const { origin } = call;
  const claims = await readRefreshToken(refreshToken, { ...parts, origin });
  if (clientId !== undefined && clientId !== claims.clientId) {
    const reason = 'client_mismatch';
    await recordRefusal(parts.audit, claims, { reason, origin });
    throw invalidGrant(reason);
  }
  const options = refreshOptionsOf(call, scope);
  if (!(await parts.oauth.isLocal(claims.subject))) {
    await parts.sessions.requireRefreshable(claims, options);
    await parts.oauth.syncRoles(claims.subject, origin);
  }
  return parts.sessions.refresh(claims, options);
}

/** What a session is told of a call that refreshes it. */
export function refreshOptionsOf(
  call: Pick<Call, 'setHeader' | 'origin'>,
  scope?: string,
): RefreshOptions {
  return { scope, origin: call.origin, onAllowance: (allowance) => showAllowance(call, allowance) };
}
