import { createHash, createPublicKey, sign, verify, type KeyObject } from 'node:crypto';
import { canonicalJson } from '../agents/canonical-json.ts';

export const voteValues = ['approve', 'reject', 'abstain'] as const;
export type VoteValue = (typeof voteValues)[number];

/** Stands first in what members sign, so that the signature means nothing elsewhere. */
export const voteDomain = 'ENNEAD-SWARM-v1/ed25519/vote';
const configDomain = 'ENNEAD-SWARM-v1/config';
const proposalDomain = 'ENNEAD-SWARM-v1/proposal';

/** What a swarm votes on. */
export interface Proposal {
  readonly name: string;
  readonly task: { readonly type: string; readonly input: Readonly<Record<string, unknown>> };
}

/** Who may sign, as a verifier knows it; `voteKey` is the `x` of an Ed25519 JWK. */
export interface Signatory {
  readonly agentId: string;
  readonly voteKey?: string | undefined;
}

/** What every vote of a swarm is bound to, whoever casts it. */
export interface BallotScope {
  readonly meshId: string;
  readonly swarmId: string;
  readonly configHash: string;
  readonly proposalId: string;
}

/** One member's vote, bound to its swarm. */
export interface Ballot extends BallotScope {
  readonly agentId: string;
  readonly vote: VoteValue;
}

/**
 * The bytes that are signed: lp(domain) lp(meshId) lp(swarmId) lp(configHash) lp(proposalId)
 * lp(valueHash) lp(agentId), where lp(x) is the length of x in UTF-8 as 4 bytes, big-endian, and then
 * x. The hashes are SHA-256 in lower-case hex; valueHash is that of the vote's UTF-8 text.
 */
export function ballotBytes(ballot: Ballot): Buffer {
  const { meshId, swarmId, configHash, proposalId, agentId, vote } = ballot;
  const valueHash = createHash('sha256').update(vote).digest('hex');
  return prefixed([voteDomain, meshId, swarmId, configHash, proposalId, valueHash, agentId]);
}

/**
 * SHA-256 in hex of lp(domain), then lp(agentId) lp(voteKey, empty without one) of every member in
 * the order of the ids' UTF-16 units, then lp(q in decimal): another member or quorum voids votes.
 */
export function configHashOf(members: readonly Signatory[], quorum: number): string {
  const sorted = members.toSorted((a, b) => (a.agentId < b.agentId ? -1 : 1));
  const keys = sorted.flatMap(({ agentId, voteKey = '' }) => [agentId, voteKey]);
  return hashOf([configDomain, ...keys, String(quorum)]);
}

/** SHA-256 in hex of lp(domain) lp(name) lp(task.type) lp(task.input as RFC 8785 writes it). */
export function proposalIdOf({ name, task }: Proposal): string {
  return hashOf([proposalDomain, name, task.type, canonicalJson(task.input)]);
}

/** The signature of a vote, base64url. */
export function signBallot(ballot: Ballot, privateKey: KeyObject): string {
  return sign(null, ballotBytes(ballot), privateKey).toString('base64url');
}

/** Whether the signature is the key's over the vote; false for texts that are neither. */
export function isBallotSigned(ballot: Ballot, voteKey: string, signature: string): boolean {
  const bytes = Buffer.from(signature, 'base64url');
  // One text for one signature, so that a copy is seen to be one.
  if (bytes.length !== 64 || bytes.toString('base64url') !== signature) return false;
  const key = readVoteKey(voteKey);
  return key !== undefined && verify(null, ballotBytes(ballot), key, bytes);
}

/** The key of an Ed25519 JWK's `x`; undefined when it is none. */
export function readVoteKey(voteKey: string): KeyObject | undefined {
  try {
    const key = createPublicKey({
      key: { kty: 'OKP', crv: 'Ed25519', x: voteKey },
      format: 'jwk',
    });
    return key.export({ format: 'jwk' }).x === voteKey ? key : undefined;
  } catch {
    return undefined;
  }
}

function hashOf(parts: readonly string[]): string {
  return createHash('sha256').update(prefixed(parts)).digest('hex');
}

function prefixed(parts: readonly string[]): Buffer {
  return Buffer.concat(
    parts.flatMap((part) => {
      const bytes = Buffer.from(part);
      const length = Buffer.alloc(4);
      length.writeUInt32BE(bytes.length);
      return [length, bytes];
    }),
  );
}
