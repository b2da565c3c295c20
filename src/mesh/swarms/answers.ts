import { voteDomain, type BallotScope, type VoteValue } from './ballot.ts';
import { certificateOf, confidenceOf, evidenceOf } from './findings.ts';
import { consensusType } from './request.ts';
import {
  countedVotes,
  decisionOf,
  faultToleranceOf,
  scopeOf,
  tallyOf,
  type KeptVote,
  type Swarm,
} from './swarm.ts';
import type { VoteReceipt } from './swarms.ts';

/** A swarm as callers see it, over REST and gRPC alike. */
export function toSwarm(swarm: Swarm) {
  const { swarmId, name, status, members } = swarm;
  const { byzantine, quorum } = faultToleranceOf(swarm);
  return {
    swarmId,
    name,
    status,
    agents: members.map(({ agentId }) => agentId),
    createdAt: toTime(swarm.createdAtMs),
    expiresAt: toTime(swarm.expiresAtMs),
    consensusReached: status === 'consensus-reached',
    faultTolerance: { byzantine, quorum },
    livenessFaults: members.length - quorum,
    ballot: toBallot(scopeOf(swarm)),
  };
}

/** How a swarm stands, as callers see it. */
export function toStatus(swarm: Swarm) {
  const { endedAtMs, members, threshold, timeoutMs, votes } = swarm;
  const decision = decisionOf(swarm);
  const confidence = confidenceOf(swarm);
  const certificate = certificateOf(swarm);
  const endedAt = endedAtMs === undefined ? undefined : toTime(endedAtMs);
  return {
    ...toSwarm(swarm),
    agentVotes: countedVotes(swarm).map(toVote),
    ...(decision && { finalDecision: decision }),
    ...(decision && endedAt && { consensusAt: endedAt }),
    ...(endedAt && { endedAt }),
    ...(confidence === undefined ? {} : { confidence }),
    tally: tallyOf(swarm),
    consensus: { type: consensusType, threshold, timeout: timeoutMs },
    members: members.map(({ agentId, voteKey, joinedAtMs }) => ({
      agentId,
      ...(voteKey === undefined ? {} : { voteKey }),
      ...(joinedAtMs === undefined ? {} : { joinedAt: toTime(joinedAtMs) }),
    })),
    certified: certificate !== undefined,
    ...(certificate && {
      certificate: { ...certificate, votes: certificate.votes.map((vote) => ({ ...vote })) },
    }),
    evidence: evidenceOf(swarm).map(({ agentId, first, second, isTransferable }) => ({
      agentId,
      first: toVote(first),
      second: toVote(second),
      transferable: isTransferable,
    })),
    lateVotes: votes.filter(({ kind }) => kind === 'late').map(toVote),
  };
}

/** What whoever voted is told. */
export function toReceipt(
  { agentId, vote }: { readonly agentId: string; readonly vote: VoteValue },
  { swarm, outcome }: VoteReceipt,
) {
  const { swarmId, status } = swarm;
  const decision = decisionOf(swarm);
  return {
    swarmId,
    agentId,
    vote,
    accepted: true,
    repeated: outcome === 'repeated',
    status,
    consensusReached: status === 'consensus-reached',
    ...(decision && { finalDecision: decision }),
  };
}

function toBallot({ meshId, proposalId, configHash }: BallotScope) {
  return { domain: voteDomain, meshId, proposalId, configHash };
}

function toVote({ agentId, vote, confidence, signature, castAtMs }: KeptVote) {
  const timestamp = toTime(castAtMs);
  const signed = signature === undefined ? {} : { signature };
  return { agentId, vote, confidence, timestamp, ...signed };
}

function toTime(ms: number): string {
  return new Date(ms).toISOString();
}
