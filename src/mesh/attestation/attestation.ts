/** An agent's proof of a capability, accepted. Times are milliseconds since the epoch. */
export interface Attestation {
  readonly attestationId: string;
  /** Its place in the status lists. */
  readonly statusIndex: number;
  readonly agentId: string;
  readonly capability: string;
  /** The agent's key when it was proved. */
  readonly publicKey: string;
  /** Whose the agent was then. */
  readonly ownerId: string;
  /** Of the mesh's key that signed it. */
  readonly kid: string;
  readonly verifiedAtMs: number;
  readonly validUntilMs: number;
  /** Never undone. */
  readonly revokedAtMs: number | undefined;
}

/** How long an attestation lasts; its agent renews it by another proof. */
export const validityMs = 3_600_000;

/** What became of attestations, as replicas tell each other. */
export type AttestationEvent =
  | { readonly kind: 'attested'; readonly attestation: Attestation }
  | { readonly kind: 'revoked'; readonly attestations: readonly Attestation[] }
  | { readonly kind: 'keys-changed' };
