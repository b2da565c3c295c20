import {
  configHashOf,
  isBallotSigned,
  proposalIdOf,
  type Proposal,
  type Signatory,
} from './ballot.ts';
import { safeQuorum } from './quorum.ts';

/** Proof of a decision: as many signed, equal votes as the quorum, or more. */
export interface Certificate {
  readonly meshId: string;
  readonly swarmId: string;
  readonly proposalId: string;
  readonly configHash: string;
  readonly quorum: number;
  readonly decision: 'approve' | 'reject';
  readonly votes: readonly { readonly agentId: string; readonly signature: string }[];
}

/** What a verifier knows of a swarm from elsewhere than its certificate. */
export interface KnownSwarm {
  /** All members, with the vote keys of those that have one. */
  readonly members: readonly Signatory[];
  /** Checked too where it is given. */
  readonly meshId?: string;
  readonly swarmId?: string;
  readonly proposal?: Proposal;
}

export type CertificateCheck =
  | { readonly isValid: true; readonly signers: readonly string[] }
  | { readonly isValid: false; readonly flaw: string };

/**
 * Whether a decision holds, without asking any mesh. The members and their keys must come from
 * elsewhere, for a certificate could name any. Throws nothing, whatever the certificate holds.
 */
export function verifyCertificate(certificate: Certificate, known: KnownSwarm): CertificateCheck {
  const flaw = flawOf(certificate, known);
  if (flaw !== undefined) return { isValid: false, flaw };
  return { isValid: true, signers: certificate.votes.map(({ agentId }) => agentId) };
}

function flawOf(certificate: Certificate, known: KnownSwarm): string | undefined {
  if (!isWellFormed(certificate)) return 'it is not a certificate';
  return scopeFlaw(certificate, known) ?? votesFlaw(certificate, known.members);
}

function scopeFlaw(certificate: Certificate, known: KnownSwarm): string | undefined {
  const { meshId, swarmId, proposalId, configHash, quorum, decision } = certificate;
  const { members, proposal } = known;
  if (decision !== 'approve' && decision !== 'reject') return 'it decides nothing';
  if (known.meshId !== undefined && known.meshId !== meshId) return 'it is of another mesh';
  if (known.swarmId !== undefined && known.swarmId !== swarmId) return 'it is of another swarm';
  if (proposal && proposalIdOf(proposal) !== proposalId) return 'it is of another proposal';
  if (!Number.isSafeInteger(quorum) || quorum < safeQuorum(members.length)) {
    return 'its quorum is too small for that many members';
  }
  return configHashOf(members, quorum) === configHash ? undefined : 'it is of other members';
}

function votesFlaw(certificate: Certificate, members: readonly Signatory[]): string | undefined {
  const { votes, quorum, decision: vote } = certificate;
  const keys = new Map(members.map(({ agentId, voteKey }) => [agentId, voteKey]));
  if (new Set(votes.map(({ agentId }) => agentId)).size !== votes.length) {
    return 'a member is counted twice';
  }
  if (votes.length < quorum) return 'it has fewer votes than its quorum';
  for (const { agentId, signature } of votes) {
    const voteKey = keys.get(agentId);
    if (voteKey === undefined) return `${agentId} is no member with a key`;
    if (!isBallotSigned({ ...certificate, agentId, vote }, voteKey, signature)) {
      return `the signature of ${agentId} does not hold`;
    }
  }
  return undefined;
}

function isWellFormed(certificate: Certificate): boolean {
  // It may have come from anywhere.
  const given: unknown = certificate;
  if (typeof given !== 'object' || given === null) return false;
  const { meshId, swarmId, proposalId, configHash, votes } = given as Record<string, unknown>;
  const texts = [meshId, swarmId, proposalId, configHash];
  return texts.every(isText) && Array.isArray(votes) && votes.every(isSignedVote);
}

function isSignedVote(vote: unknown): boolean {
  if (typeof vote !== 'object' || vote === null) return false;
  const { agentId, signature } = vote as Record<string, unknown>;
  return isText(agentId) && isText(signature);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}
