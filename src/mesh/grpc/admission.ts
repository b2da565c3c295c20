import { Fault } from '../../kit/errors.ts';
import { payerOf } from '../../kit/http/gate.ts';
import type { RevocationList } from '../../kit/identity/revocations.ts';
import type { RateLimiter } from '../../kit/rate-limit.ts';
import type { PeerIdentity } from '../certificates/spiffe.ts';
import type { Message } from './mesh-operations.ts';

export interface AdmissionOptions {
  /** Who owns an agent now; undefined for one that is not registered. */
  readonly ownerOf: (agentId: string) => string | undefined;
  /** What ends the tokens that certificates were issued to ends the certificates. */
  readonly revocations: Pick<RevocationList, 'covers' | 'requireFresh'>;
  /** Counts whose calls they are, as over REST. */
  readonly limiter?: Pick<RateLimiter, 'take'> | undefined;
}

/**
 * Lets a call in. Throws `unauthenticated` for a certificate that names no agent, has expired since
 * the connection began, was issued to somebody else than the agent's owner of today, or to a token that
 * was revoked; `exhausted` for more calls than the limit.
 */
export function admit(
  peer: PeerIdentity | undefined,
  { ownerOf, revocations, limiter }: AdmissionOptions,
): PeerIdentity {
  if (!peer) throw refuse('the client certificate names no agent', 'invalid_certificate');
  if (peer.expiresAtMs <= Date.now()) {
    throw refuse('the client certificate has expired', 'certificate_expired');
  }
  const ownerId = ownerOf(peer.agentId);
  if (ownerId !== undefined && ownerId !== peer.ownerId) {
    throw refuse('the client certificate is not of the agent’s owner', 'invalid_certificate');
  }
  const { ownerId: subject, sessionId, tokenEpoch, kind } = peer;
  revocations.requireFresh();
  if (revocations.covers({ tokenId: '', keyId: '', subject, sessionId, tokenEpoch })) {
    throw refuse('the client certificate was revoked', 'certificate_revoked');
  }
  const allowance = limiter?.take(payerOf({ kind, subject, sessionId }));
  if (allowance && !allowance.isAllowed) {
    const { retryAfter } = allowance;
    throw new Fault('exhausted', 'too many requests', {
      reason: 'rate_limit_exceeded',
      retryAfter,
    });
  }
  return peer;
}

/**
 * Throws `invalid` when a request names no agent, and `forbidden` when it speaks for another than the
 * certificate's.
 */
export function requireOwnAgent(request: Message, { agentId }: PeerIdentity): void {
  if (request['agentId'] === agentId) return;
  if (request['agentId'] === undefined) {
    throw new Fault('invalid', 'the request must have agent_id', { reason: 'validation_error' });
  }
  throw new Fault('forbidden', 'the client certificate is another agent’s', {
    reason: 'agent_mismatch',
    detail: { agentId: request['agentId'] },
  });
}

function refuse(message: string, reason: string): Fault {
  return new Fault('unauthenticated', message, { reason });
}
