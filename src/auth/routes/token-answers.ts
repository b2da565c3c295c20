import { Fault } from '../../kit/errors.ts';
import type { Call } from '../../kit/http/call.ts';
import type { Allowance } from '../../kit/rate-limit.ts';
import type { AuthParts } from '../parts.ts';
import type { TokenPair } from '../sessions/sessions.ts';
import { accessLifeSeconds, type RefreshClaims } from '../tokens/tokens.ts';

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

/** Reads a refresh token and takes one of its session's refreshes. */
export async function readRefresh(
  call: Pick<Call, 'setHeader'>,
  { parts, refreshToken }: { readonly parts: AuthParts; readonly refreshToken: string },
): Promise<RefreshClaims> {
  const { refreshBySession: limit } = parts.limits;
  const claims = await parts.mint.readRefresh(refreshToken);
  const allowance = await limit.take(claims.sessionId);
  showAllowance(call, allowance);
  if (!allowance.isAllowed) throw limit.refusal(allowance);
  return claims;
}

/** Trades a refresh token for the next pair; roles that the user's groups no longer give go first. */
export async function refreshTokens(
  call: Pick<Call, 'setHeader' | 'origin'>,
  request: {
    readonly parts: AuthParts;
    readonly refreshToken: string;
    readonly scope: string | undefined;
  },
): Promise<TokenPair> {
  const { parts, scope } = request;
  const claims = await readRefresh(call, request);
  await parts.oauth.syncRoles(claims.subject, call.origin);
  return parts.sessions.refresh(claims, { scope, origin: call.origin });
}
