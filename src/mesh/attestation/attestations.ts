import { createBatch, type Batch } from '../../kit/database/batch.ts';
import { Fault } from '../../kit/errors.ts';
import { newId } from '../../kit/ids.ts';
import { allows } from '../../kit/permissions.ts';
import type { Activity } from '../activity/activity.ts';
import { despiteDeadlock } from '../agents/deadlock.ts';
import type { AgentSource } from './agent-source.ts';
import type {
  AttestationAnswer,
  ChallengeAnswer,
  ChallengeRequest,
  RevocationAnswer,
  Revoker,
  VerificationAnswer,
  VerificationRequest,
} from './answers.ts';
import type { AttestationFeed } from './attestation-feed.ts';
import {
  insertAttestations,
  readAttestation,
  revokeAttestation,
  revokeAttestationsOf,
  type AttestationSql,
  type NewAttestation,
  type Unstored,
} from './attestation-store.ts';
import { signAttestation, signRefusal, type Issuer } from './attestation-token.ts';
import { validityMs, type Attestation } from './attestation.ts';
import { insertChallenge } from './challenge-store.ts';
import { judge, type AttestationRequest, type Proved, type Refusal } from './judgement.ts';
import type { LiveAttestations } from './live-attestations.ts';
import type { ProofChecker } from './proof-checker.ts';
import {
  keyMissing,
  noCommitment,
  notTheOwner,
  unknownAgent,
  unknownAttestation,
} from './refusals.ts';
import { isElement, randomChallenge } from './schnorr.ts';
import type { SigningKeys, TokenKey } from './signing-key.ts';

export interface AttestationsOptions {
  readonly sql: AttestationSql;
  readonly agents: AgentSource;
  readonly activity: Activity;
  readonly checker: Pick<ProofChecker, 'check'>;
  readonly issuer: Issuer;
  readonly keys: Pick<SigningKeys, 'isPublished' | 'isPublishedNow' | 'read'>;
  readonly live: LiveAttestations;
  readonly feed: Pick<AttestationFeed, 'tell'>;
  readonly now: () => number;
}

interface Pending {
  readonly attestation: NewAttestation;
  /** Set by the flush. */
  outcome?: Attestation | Unstored | undefined;
}

interface Stored {
  readonly attestation: Attestation;
  /** The one that it names. */
  readonly key: TokenKey;
}

const challengeLifeMs = 30_000;
const batchMax = 200;
const pendingMax = 10_000;

/** Attests, verifies and revokes; what it answers is stored before. */
export class Attestations implements AsyncDisposable {
  readonly #options: AttestationsOptions;
  readonly #writes: Batch<Pending>;

  constructor(options: AttestationsOptions) {
    this.#options = options;
    this.#writes = createBatch<Pending>({
      flush: (pending) => storeAll(options.sql, pending),
      maxItems: batchMax,
      maxDelayMs: 1,
      maxPending: pendingMax,
    });
  }

  /**
   * Attests that an agent has proved a capability, or answers `verified: false` and why. Rejects only
   * when nothing could be found out: `exhausted`, `unavailable`.
   */
  async attest(request: AttestationRequest): Promise<AttestationAnswer> {
    const { issuer, feed, activity } = this.#options;
    const judged = await judge(request, this.#options);
    if (typeof judged === 'string') return this.#refuse(request, judged);
    const stored = await this.#store(request, judged);
    if (typeof stored === 'string') return this.#refuse(request, stored);
    const { agentId, capability, proof } = request;
    const { attestation, key } = stored;
    const { attestationId, validUntilMs } = attestation;
    feed.tell({ kind: 'attested', attestation });
    const validUntil = toTime(validUntilMs);
    activity.tell('capability-attested', agentId, { attestationId, capability, validUntil });
    const { token, signature } = signAttestation({ key, url: issuer.url }, attestation, proof);
    return {
      attestationId,
      agentId,
      capability,
      verified: true,
      validUntil,
      signature: toHex(signature),
      token,
    };
  }

  /** What the database says now; another agent's attestation is as unknown as none. */
  async verify(request: VerificationRequest): Promise<VerificationAnswer> {
    const { sql, now } = this.#options;
    const { attestationId, agentId, capability } = request;
    const found = await readAttestation(sql, attestationId);
    const isMeant = found?.agentId === agentId && found.capability === capability;
    const nowMs = now();
    const answer = { agentId, capability, verifiedAt: toTime(nowMs) };
    if (!found || !isMeant) {
      return { valid: false, ...answer, expiresAt: answer.verifiedAt, reason: 'unknown' };
    }
    const reason = await this.#endOf(found, nowMs);
    const expiresAt = toTime(found.validUntilMs);
    return { valid: reason === undefined, ...answer, expiresAt, ...(reason ? { reason } : {}) };
  }

  /**
   * Ends an attestation for good; doing it again changes nothing. Throws `not_found` for an unknown
   * one and `forbidden` to others than the agent, its owner and the mesh's administrators.
   */
  async revoke(
    attestationId: string,
    { reason, by }: { readonly reason?: string | undefined; readonly by: Revoker },
  ): Promise<RevocationAnswer> {
    const { sql, now } = this.#options;
    const found = await readAttestation(sql, attestationId);
    if (!found) throw unknownAttestation(attestationId);
    if (!this.#mayRevoke(found, by)) throw notTheOwner(found);
    const revoked = await revokeAttestation(sql, attestationId, { at: new Date(now()), reason });
    if (!revoked) throw unknownAttestation(attestationId);
    if (found.revokedAtMs === undefined) this.#tellRevoked([revoked], reason);
    const revokedAt = toTime(revoked.revokedAtMs ?? now());
    return { attestationId, revoked: true, revokedAt };
  }

  /** Ends all attestations of an agent that has left or changed its key. */
  async revokeAll(agentId: string, reason: string): Promise<void> {
    const { sql, now } = this.#options;
    const at = new Date(now());
    this.#tellRevoked(await revokeAttestationsOf(sql, agentId, { at, reason }), reason);
  }

  /**
   * Begins the interactive form: one attempt within 30 seconds. Throws `not_found` for an unknown
   * agent, `conflict` for one without a key, `invalid` for what can be no commitment.
   */
  async challenge(request: ChallengeRequest): Promise<ChallengeAnswer> {
    const { sql, agents, now } = this.#options;
    const { agentId, capability, commitment } = request;
    const agent = await agents.seek(agentId);
    if (!agent) throw unknownAgent(agentId);
    const { publicKey } = agent;
    if (publicKey === undefined) throw keyMissing(agentId);
    if (!isElement(commitment)) throw noCommitment();
    const challengeId = newId('chl');
    const challenge = randomChallenge();
    const expiresAt = new Date(now() + challengeLifeMs);
    await insertChallenge(sql, {
      challengeId,
      agentId,
      capability,
      publicKey,
      commitment,
      challenge,
      expiresAt,
    });
    return { challengeId, challenge, expiresAt: expiresAt.toISOString() };
  }

  /** Whether the agent, with the key that it has now, is attested to have the capability; from memory. */
  isAttested(agentId: string, capability: string): boolean {
    const { agents, live, keys, now } = this.#options;
    const publicKey = agents.find(agentId)?.publicKey;
    if (publicKey === undefined) return false;
    const isSigned = ({ kid }: Attestation) => keys.isPublished(kid);
    return live.isAttested(agentId, capability, { publicKey, nowMs: now(), isSigned });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writes.close();
  }

  /** Stores what was proved; reads the keys of the mesh again when the one that was to sign is withdrawn. */
  async #store(request: AttestationRequest, proved: Proved): Promise<Stored | Refusal> {
    const { issuer, keys } = this.#options;
    for (let attempt = 1; attempt <= 2; attempt += 1) {
      // The one that is stored signs, also when the next takes over meanwhile.
      const { key } = issuer.signer;
      const pending: Pending = { attestation: this.#newAttestation(request, proved, key.kid) };
      await this.#writes.add(pending);
      const { outcome = 'commitment_used' } = pending;
      if (typeof outcome === 'object') return { attestation: outcome, key };
      // The key that was proved is the agent's no more.
      if (outcome === 'key_changed') return 'not_proved';
      if (outcome === 'commitment_used') return outcome;
      await keys.read();
    }
    throw new Fault('unavailable', 'the keys of the mesh are being exchanged', { retryAfter: 1 });
  }

  #newAttestation(
    { agentId, capability, proof }: AttestationRequest,
    { publicKey, agent }: Proved,
    kid: string,
  ): NewAttestation {
    const verifiedAtMs = this.#options.now();
    return {
      attestationId: newId('att'),
      agentId,
      capability,
      publicKey,
      ownerId: agent.ownerId,
      kid,
      verifiedAtMs,
      validUntilMs: verifiedAtMs + validityMs,
      commitment: proof.commitment.slice(2),
    };
  }

  #refuse({ agentId, capability }: AttestationRequest, reason: Refusal): AttestationAnswer {
    const { issuer, now } = this.#options;
    const refused = { attestationId: newId('att'), agentId, capability, atMs: now() };
    const { token, signature } = signRefusal(issuer, refused);
    return {
      attestationId: refused.attestationId,
      agentId,
      capability,
      verified: false,
      validUntil: toTime(refused.atMs),
      signature: toHex(signature),
      token,
      reason,
    };
  }

  async #endOf(
    attestation: Attestation,
    nowMs: number,
  ): Promise<VerificationAnswer['reason'] | undefined> {
    if (attestation.revokedAtMs !== undefined) return 'revoked';
    if (attestation.validUntilMs <= nowMs) return 'expired';
    if (!(await this.#options.keys.isPublishedNow(attestation.kid))) return 'key_withdrawn';
    const agent = await this.#options.agents.seek(attestation.agentId);
    return agent?.publicKey === attestation.publicKey ? undefined : 'key_changed';
  }

  #mayRevoke({ agentId, ownerId }: Attestation, { subject, ...by }: Revoker): boolean {
    if (by.agentId === agentId || allows(by.permissions, 'mesh:admin')) return true;
    const presentOwnerId = this.#options.agents.find(agentId)?.ownerId;
    return subject !== undefined && (subject === ownerId || subject === presentOwnerId);
  }

  #tellRevoked(attestations: readonly Attestation[], reason: string | undefined): void {
    if (attestations.length === 0) return;
    this.#options.feed.tell({ kind: 'revoked', attestations });
    for (const { attestationId, agentId, capability } of attestations) {
      const data = { attestationId, capability, ...(reason === undefined ? {} : { reason }) };
      this.#options.activity.tell('attestation-revoked', agentId, data);
    }
  }
}

async function storeAll(sql: AttestationSql, pending: readonly Pending[]): Promise<void> {
  const attestations = pending.map(({ attestation }) => attestation);
  const outcomes = await despiteDeadlock(() => insertAttestations(sql, attestations));
  for (const item of pending) item.outcome = outcomes.get(item.attestation.attestationId);
}

function toTime(ms: number): string {
  return new Date(ms).toISOString();
}

function toHex(bytes: Buffer): string {
  return `0x${bytes.toString('hex')}`;
}
