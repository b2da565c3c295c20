import type { Refusal } from './judgement.ts';

/** The answer to a proof; times are ISO 8601. */
export interface AttestationAnswer {
  readonly attestationId: string;
  readonly agentId: string;
  readonly capability: string;
  readonly verified: boolean;
  readonly validUntil: string;
  /** That of the token, as 0x hex. */
  readonly signature: string;
  readonly token: string;
  /** Why it is not verified. */
  readonly reason?: Refusal;
}

export interface VerificationRequest {
  readonly attestationId: string;
  readonly agentId: string;
  readonly capability: string;
}

/** What an attestation is worth at the moment; times are ISO 8601. */
export interface VerificationAnswer {
  readonly valid: boolean;
  readonly agentId: string;
  readonly capability: string;
  /** When this was found out. */
  readonly verifiedAt: string;
  /** When it ends or ended; of what the mesh does not know, the same as `verifiedAt`. */
  readonly expiresAt: string;
  /** Why it is not valid. */
  readonly reason?: 'unknown' | 'expired' | 'revoked' | 'key_changed' | 'key_withdrawn';
}

export interface RevocationAnswer {
  readonly attestationId: string;
  readonly revoked: true;
  readonly revokedAt: string;
}

/** Who wants something revoked, by a token or by an agent's certificate. */
export interface Revoker {
  readonly subject?: string | undefined;
  readonly agentId?: string | undefined;
  readonly permissions: readonly string[];
}

export interface ChallengeRequest {
  readonly agentId: string;
  readonly capability: string;
  readonly commitment: string;
}

export interface ChallengeAnswer {
  readonly challengeId: string;
  readonly challenge: string;
  readonly expiresAt: string;
}
