import type { Attestation } from './attestation.ts';

/** What an attestation must fit to be good. */
export interface AttestedBy {
  /** The agent's, now. */
  readonly publicKey: string;
  readonly nowMs: number;
  /** Whether the key of the mesh that signed it was not withdrawn. */
  readonly isSigned: (attestation: Attestation) => boolean;
}

/** The attestations that are good now, as every replica has them in memory. */
export class LiveAttestations {
  /** By agent, capability and id. */
  readonly #live = new Map<string, Map<string, Map<string, Attestation>>>();
  /** Those known to be revoked, until they would have ended: what is read late must not return. */
  readonly #revoked = new Map<string, number>();
  #newestIndex = 0;

  /** The highest place in the status lists that was ever seen. */
  get newestIndex(): number {
    return this.#newestIndex;
  }

  noteIndex(index: number): void {
    this.#newestIndex = Math.max(this.#newestIndex, index);
  }

  /** Takes one in, or out when it is revoked; in any order and as often as you like. */
  note(attestation: Attestation): void {
    const { attestationId, agentId, capability, validUntilMs, revokedAtMs } = attestation;
    this.noteIndex(attestation.statusIndex);
    if (revokedAtMs !== undefined) this.#revoked.set(attestationId, validUntilMs);
    if (this.#revoked.has(attestationId)) {
      this.#remove(attestation);
      return;
    }
    const byCapability = entryOf(this.#live, agentId, () => new Map());
    entryOf(byCapability, capability, () => new Map()).set(attestationId, attestation);
  }

  /** Whether the holder of the key has proved the capability, and nothing ended that since. */
  isAttested(
    agentId: string,
    capability: string,
    { publicKey, nowMs, isSigned }: AttestedBy,
  ): boolean {
    const found = this.#live.get(agentId)?.get(capability);
    if (!found) return false;
    for (const attestation of found.values()) {
      const isGood = attestation.validUntilMs > nowMs && attestation.publicKey === publicKey;
      if (isGood && isSigned(attestation)) return true;
    }
    return false;
  }

  /** Forgets what has ended. */
  sweep(nowMs: number): void {
    for (const [id, untilMs] of this.#revoked) if (untilMs <= nowMs) this.#revoked.delete(id);
    for (const byCapability of this.#live.values()) {
      for (const byId of byCapability.values()) {
        for (const attestation of byId.values()) {
          if (attestation.validUntilMs <= nowMs) this.#remove(attestation);
        }
      }
    }
  }

  #remove({ attestationId, agentId, capability }: Attestation): void {
    const byCapability = this.#live.get(agentId);
    const byId = byCapability?.get(capability);
    if (!byCapability || !byId) return;
    byId.delete(attestationId);
    if (byId.size === 0) byCapability.delete(capability);
    if (byCapability.size === 0) this.#live.delete(agentId);
  }
}

function entryOf<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
