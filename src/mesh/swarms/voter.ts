import { Fault } from '../../kit/errors.ts';
import type { AgentDirectory } from '../agents/agent.ts';
import { isBallotSigned, type VoteValue } from './ballot.ts';
import { evidenceOf } from './findings.ts';
import {
  memberOf,
  scopeOf,
  type CastOutcome,
  type JoinOutcome,
  type Member,
  type Swarm,
} from './swarm.ts';

/** Who speaks: the subject of a token, or an agent by its certificate. */
export interface Voter {
  /** Of the token; with `agentId`, of the token that the certificate was issued to. */
  readonly subject?: string | undefined;
  /** Whom a client certificate names: it speaks for that agent alone. */
  readonly agentId?: string | undefined;
}

interface GivenVote {
  readonly agentId: string;
  readonly vote: VoteValue;
  readonly signature?: string | undefined;
}

/** Whether the voter is the member's owner, or the member itself by a certificate of its owner's. */
export function speaksFor(member: Member, voter: Voter, directory: AgentDirectory): boolean {
  const { agentId, subject } = voter;
  if (agentId === undefined) return subject === member.ownerId;
  const ownerId = subject ?? directory.find(agentId)?.ownerId;
  return agentId === member.agentId && ownerId === member.ownerId;
}

/** Throws `forbidden` unless the vote is the voter's to cast, and `invalid` for a wrong signature. */
export function checkVote(
  swarm: Swarm,
  given: GivenVote,
  { voter, directory }: { readonly voter: Voter; readonly directory: AgentDirectory },
): void {
  const { agentId, vote, signature } = given;
  const detail = { swarmId: swarm.swarmId, agentId };
  const member = memberOf(swarm, agentId);
  if (!member) {
    const options = { reason: 'not_a_member', detail };
    throw new Fault('forbidden', 'the agent is no member of the swarm', options);
  }
  if (!speaksFor(member, voter, directory)) {
    const options = { reason: 'not_agent_owner', detail };
    throw new Fault('forbidden', 'only its owner votes for an agent', options);
  }
  if (signature === undefined) return;
  const isSigned =
    member.voteKey !== undefined &&
    isBallotSigned({ ...scopeOf(swarm), agentId, vote }, member.voteKey, signature);
  if (isSigned) return;
  const message = member.voteKey
    ? 'the signature is not that of the agent’s vote key over this vote'
    : 'the agent had no vote key when it became a member: vote without a signature';
  throw new Fault('invalid', message, { reason: 'invalid_signature', detail });
}

/** The refusal of an answer that anybody who carries it could have made up. */
export function unsignedAnswer({ swarmId }: Swarm, agentId: string): Fault {
  const message = 'an agent with a vote key signs what it answers when it is asked for its vote';
  return new Fault('invalid', message, {
    reason: 'invalid_signature',
    detail: { swarmId, agentId },
  });
}

/** Why a vote that was kept does not count. */
export function lateVote(swarm: Swarm, given: GivenVote, outcome: CastOutcome): Fault {
  const { swarmId, status } = swarm;
  const { agentId, vote } = given;
  const detail = { swarmId, agentId, status };
  if (outcome === 'late') {
    const message = 'the swarm has ended: the vote was kept and does not count';
    return new Fault('conflict', message, { reason: 'swarm_ended', detail });
  }
  const found = evidenceOf(swarm).find(
    ({ second }) => second.agentId === agentId && second.vote === vote,
  );
  const message = 'the agent has voted otherwise: its first vote stays, both are kept as evidence';
  return new Fault('conflict', message, {
    reason: 'vote_conflict',
    detail: { ...detail, first: found?.first.vote, second: vote },
  });
}

/** Why an agent cannot join. */
export function joinRefusal(
  { swarmId, status }: Swarm,
  agentId: string,
  why: Exclude<JoinOutcome, 'joined'> | 'forbidden',
): Fault {
  const detail = { swarmId, agentId, status };
  if (why === 'forbidden') {
    const message = 'an agent joins by its owner, and a further one by the swarm’s';
    return new Fault('forbidden', message, { reason: 'not_agent_owner', detail });
  }
  const { reason, message } = joinConflicts[why];
  return new Fault('conflict', message, { reason, detail });
}

const joinConflicts = {
  ended: { reason: 'swarm_ended', message: 'the swarm has ended' },
  voting: {
    reason: 'voting_began',
    message: 'a vote was cast: further members would void it',
  },
  full: { reason: 'swarm_full', message: 'the swarm has as many members as it may have' },
} as const;
