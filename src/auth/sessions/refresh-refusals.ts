import { Fault } from '../../kit/errors.ts';
import type { AuditLog } from '../audit/audit.ts';
import type { Origin } from '../audit/audit-event.ts';
import type { RefreshClaims, TokenMint } from '../tokens/tokens.ts';

/** Why a refresh token is refused, and where it came from. */
export interface RefreshRefusal {
  readonly reason: string;
  readonly origin: Origin;
}

/** What a refresh token states; throws `invalid_grant`, and audits it, for what is none of ours. */
export async function readRefreshToken(
  text: string,
  { mint, audit, origin }: { readonly mint: TokenMint; audit: AuditLog; origin: Origin },
): Promise<RefreshClaims> {
  try {
    return await mint.readRefresh(text);
  } catch (error) {
    if (error instanceof Fault && error.reason === 'invalid_grant') {
      const { reason } = error.detail;
      const event = { eventType: 'refresh_refused', origin, provider: 'refresh-token' } as const;
      audit.tally({ ...event, facts: { reason } });
    }
    throw error;
  }
}

/** Audits that a refresh token is refused which is one of ours. */
export function recordRefusal(
  audit: AuditLog,
  claims: RefreshClaims,
  { reason, origin }: RefreshRefusal,
): Promise<void> {
  const facts = { sessionId: claims.sessionId, reason };
  return audit.record({ ...refreshEventOf(claims, origin), eventType: 'refresh_refused', facts });
}

/** What every audit event of a refresh says. */
export function refreshEventOf({ subject, clientId }: RefreshClaims, origin: Origin) {
  return { userId: subject, clientId, origin, provider: 'refresh-token' };
}
