import type { KeyObject } from 'node:crypto';
import { Fault } from '../../kit/errors.ts';
import { proposalIdOf, signBallot, type BallotScope, type VoteValue } from '../swarms/ballot.ts';

/** What an agent is asked to vote on. */
export interface VoteQuestion {
  readonly swarmId: string;
  readonly task: { readonly type: string; readonly input: Readonly<Record<string, unknown>> };
}

export interface VoteDecision {
  readonly vote: VoteValue;
  /** 0..1, told with the vote; it never weighs. */
  readonly confidence?: number | undefined;
}

export interface VotingOptions {
  readonly agentId: string;
  readonly decide: (question: VoteQuestion) => VoteDecision | Promise<VoteDecision>;
  /** Ed25519; absent: votes are not signed. */
  readonly voteKey?: KeyObject | undefined;
}

interface AskedBallot extends BallotScope {
  readonly agentId: string;
  readonly name: string;
}

const rememberedMax = 10_000;

/** Votes when the mesh asks, never twice differently in one swarm. */
export class Voting {
  readonly #options: VotingOptions;
  readonly #decisions = new Map<string, Promise<VoteDecision>>();

  constructor(options: VotingOptions) {
    this.#options = options;
  }

  /** The answer to a task of type `vote`; throws a Fault for a ballot that is not about its task. */
  async answer(input: Readonly<Record<string, unknown>>) {
    // What is wrong in it shows in the checks below.
    const { swarmId, task, ballot } = input as unknown as VoteQuestion & { ballot?: AskedBallot };
    if (ballot) this.#checkBallot(ballot, { swarmId, task });
    const key = `${ballot?.meshId ?? ''} ${swarmId}`;
    const deciding = this.#decisions.get(key) ?? this.#decide(key, { swarmId, task });
    const { vote, confidence = 1 } = await deciding;
    const signature = this.#sign(ballot, vote);
    return { vote, confidence, ...(signature !== undefined && { signature }) };
  }

  #decide(key: string, question: VoteQuestion): Promise<VoteDecision> {
    const deciding = Promise.resolve(question).then(this.#options.decide);
    if (this.#decisions.size >= rememberedMax) {
      const [oldest] = this.#decisions.keys();
      if (oldest !== undefined) this.#decisions.delete(oldest);
    }
    this.#decisions.set(key, deciding);
    // Who failed to decide may be asked again.
    deciding.catch(() => this.#decisions.delete(key));
    return deciding;
  }

  #sign(ballot: AskedBallot | undefined, vote: VoteValue): string | undefined {
    const { voteKey, agentId } = this.#options;
    if (!ballot || !voteKey) return undefined;
    const { meshId, swarmId, configHash, proposalId } = ballot;
    return signBallot({ meshId, swarmId, configHash, proposalId, agentId, vote }, voteKey);
  }

  /** A signature must mean what was seen: this swarm, this agent, this task. */
  #checkBallot(ballot: AskedBallot, { swarmId, task }: VoteQuestion): void {
    const isOwn = ballot.agentId === this.#options.agentId && ballot.swarmId === swarmId;
    if (isOwn && proposalIdOf({ name: ballot.name, task }) === ballot.proposalId) return;
    throw new Fault('invalid', 'the ballot is not about the task that it came with');
  }
}
