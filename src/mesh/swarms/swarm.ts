import { configHashOf, type BallotScope, type VoteValue } from './ballot.ts';
import { toleranceOf, type FaultTolerance } from './quorum.ts';

export const swarmStatuses = [
  'active',
  'consensus-reached',
  'rejected',
  'timed-out',
  'cancelled',
] as const;
export type SwarmStatus = (typeof swarmStatuses)[number];

export interface Member {
  readonly agentId: string;
  /** Pinned when it became a member, like its key: a new owner of the id inherits no vote. */
  readonly ownerId: string;
  readonly voteKey: string | undefined;
  /** When it said that it takes part; it may vote without. */
  readonly joinedAtMs: number | undefined;
}

export interface CastVote {
  readonly agentId: string;
  readonly vote: VoteValue;
  /** 0..1; it is told and never weighs. */
  readonly confidence: number;
  /** One that holds, base64url. */
  readonly signature: string | undefined;
}

export interface KeptVote extends CastVote {
  /** Only `counted` votes decide; `conflict` differs from an earlier one, `late` came after the end. */
  readonly kind: 'counted' | 'conflict' | 'late';
  readonly castAtMs: number;
}

/** A swarm as the database has it. Times are milliseconds since the epoch. */
export interface Swarm {
  readonly swarmId: string;
  readonly name: string;
  /** The subject that created it. */
  readonly ownerId: string;
  readonly meshId: string;
  readonly proposalId: string;
  readonly threshold: number;
  readonly timeoutMs: number;
  readonly version: number;
  readonly status: SwarmStatus;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly endedAtMs: number | undefined;
  readonly members: readonly Member[];
  /** In the order in which they came. */
  readonly votes: readonly KeptVote[];
}

/** What became of something asked of a swarm; the swarm is the same object when nothing changed. */
export interface Step<Outcome> {
  readonly swarm: Swarm;
  readonly outcome: Outcome;
}

/** `repeated`: the member has this vote counted already. */
export type CastOutcome = 'counted' | 'repeated' | 'conflict' | 'late';

/** Casts a member's vote, whose right and signature were checked. */
export function castVote(given: Swarm, cast: CastVote, nowMs: number): Step<CastOutcome> {
  const swarm = expire(given, nowMs);
  const earlier = swarm.votes.filter(({ agentId }) => agentId === cast.agentId);
  const first = earlier.find(({ kind }) => kind !== 'conflict');
  const same = earlier.find(({ vote }) => vote === cast.vote);
  const outcome = outcomeOf(swarm, first, cast);
  if (!same) {
    const kind = outcome === 'repeated' ? 'counted' : outcome;
    const votes = [...swarm.votes, { ...cast, kind, castAtMs: nowMs }];
    return { swarm: decide({ ...swarm, votes }, nowMs), outcome };
  }
  // A signature that is added later makes proof of what was only said, but changes no certificate.
  const mayAdd = same.kind === 'counted' ? swarm.status === 'active' : true;
  if (same.signature !== undefined || cast.signature === undefined || !mayAdd) {
    return { swarm, outcome };
  }
  const signed = { ...same, signature: cast.signature };
  const votes = swarm.votes.map((vote) => (vote === same ? signed : vote));
  return { swarm: { ...swarm, votes }, outcome };
}

function outcomeOf({ status }: Swarm, first: KeptVote | undefined, cast: CastVote): CastOutcome {
  if (!first) return status === 'active' ? 'counted' : 'late';
  if (first.vote !== cast.vote) return 'conflict';
  return first.kind === 'counted' ? 'repeated' : 'late';
}

/** Ends a swarm when a value has its quorum, or when all have voted and none has. */
function decide(swarm: Swarm, nowMs: number): Swarm {
  if (swarm.status !== 'active') return swarm;
  const { approve, reject, abstain } = tallyOf(swarm);
  const { quorum } = faultToleranceOf(swarm);
  if (approve >= quorum) return end(swarm, 'consensus-reached', nowMs);
  if (reject >= quorum) return end(swarm, 'rejected', nowMs);
  const isSplit = approve + reject + abstain === swarm.members.length;
  return isSplit ? end(swarm, 'timed-out', nowMs) : swarm;
}

/** The swarm as it is at this time: one whose time is over has timed out. */
export function expire(swarm: Swarm, nowMs: number): Swarm {
  if (swarm.status !== 'active' || nowMs < swarm.expiresAtMs) return swarm;
  return end(swarm, 'timed-out', swarm.expiresAtMs);
}

/** Cancels what is active; false when it was not. */
export function cancel(given: Swarm, nowMs: number): Step<boolean> {
  const swarm = expire(given, nowMs);
  if (swarm.status !== 'active') return { swarm, outcome: false };
  return { swarm: end(swarm, 'cancelled', nowMs), outcome: true };
}

export type JoinOutcome = 'joined' | 'ended' | 'voting' | 'full';

export const membersMax = 256;

/**
 * Notes that a member takes part, or makes the agent a member. That is possible before the first vote
 * only: afterwards two quorums of different members could decide differently.
 */
export function join(given: Swarm, member: Member, nowMs: number): Step<JoinOutcome> {
  const swarm = expire(given, nowMs);
  if (swarm.status !== 'active') return { swarm, outcome: 'ended' };
  const known = memberOf(swarm, member.agentId);
  if (known?.joinedAtMs !== undefined) return { swarm, outcome: 'joined' };
  const joined = { ...(known ?? member), joinedAtMs: nowMs };
  if (known) {
    const members = swarm.members.map((one) => (one === known ? joined : one));
    return { swarm: { ...swarm, members }, outcome: 'joined' };
  }
  if (swarm.votes.length > 0) return { swarm, outcome: 'voting' };
  if (swarm.members.length >= membersMax) return { swarm, outcome: 'full' };
  return { swarm: { ...swarm, members: [...swarm.members, joined] }, outcome: 'joined' };
}

function end(swarm: Swarm, status: SwarmStatus, endedAtMs: number): Swarm {
  return { ...swarm, status, endedAtMs };
}

export function memberOf({ members }: Swarm, agentId: string): Member | undefined {
  return members.find((member) => member.agentId === agentId);
}

/** The votes that decide: one a member, its first. */
export function countedVotes({ votes }: Swarm): readonly KeptVote[] {
  return votes.filter(({ kind }) => kind === 'counted');
}

/** How many members voted what; a conflicting or late vote is in none. */
export function tallyOf(swarm: Swarm): Readonly<Record<VoteValue, number>> {
  const tally = { approve: 0, reject: 0, abstain: 0 };
  for (const { vote } of countedVotes(swarm)) tally[vote] += 1;
  return tally;
}

/** Of the members as they are now: who joins before the first vote may raise the quorum. */
export function faultToleranceOf({ members, threshold }: Swarm): FaultTolerance {
  return toleranceOf(members.length, threshold);
}

/** What was decided; undefined for a swarm that has not, or could not. */
export function decisionOf({ status }: Swarm): 'approve' | 'reject' | undefined {
  if (status === 'consensus-reached') return 'approve';
  return status === 'rejected' ? 'reject' : undefined;
}

/** What the swarm's votes are bound to, now. */
export function scopeOf(swarm: Swarm): BallotScope {
  const { meshId, swarmId, proposalId, members } = swarm;
  const { quorum } = faultToleranceOf(swarm);
  return { meshId, swarmId, proposalId, configHash: configHashOf(members, quorum) };
}
