import { setTimeout as sleep } from 'node:timers/promises';
import { codes, Fault } from '../../kit/errors.ts';
import type { Log } from '../../kit/log.ts';
import type { AgentDirectory } from '../agents/agent.ts';
import type { TaskRunner } from '../tasks/task.ts';
import {
  voteDomain,
  voteValues,
  type BallotScope,
  type Proposal,
  type VoteValue,
} from './ballot.ts';
import { faultToleranceOf, scopeOf, type Member, type Swarm } from './swarm.ts';

/** What a member answered when it was asked. */
export interface VoteAnswer {
  readonly vote: VoteValue;
  readonly confidence?: number | undefined;
  readonly signature?: string | undefined;
}

export interface AskingOptions {
  readonly runner: TaskRunner;
  readonly directory: AgentDirectory;
  /** Casts what a member answered. */
  readonly onAnswer: (swarm: Swarm, member: Member, answer: VoteAnswer) => Promise<void>;
  readonly now: () => number;
  readonly log: Log;
}

/** How long an agent may take for one answer; the swarm's own time may be shorter. */
const answerMsMax = 10 * 60_000;
/** The last one again and again, until the swarm's time is over. */
const retryAfterMs = [1_000, 5_000, 20_000, 60_000, 300_000];

/** Asks members for their votes, by a task of type `vote`, and stops when they are not needed. */
export class Asking implements AsyncDisposable {
  readonly #options: AskingOptions;
  readonly #open = new Map<string, Map<string, AbortController>>();
  readonly #running = new Set<Promise<void>>();
  #isStopped = false;

  constructor(options: AskingOptions) {
    this.#options = options;
  }

  /** Asks whoever has not voted and is not being asked; does not wait for the answers. */
  ask(swarm: Swarm, task: Proposal['task']): void {
    if (this.#isStopped || swarm.status !== 'active') return;
    const asked = this.#open.get(swarm.swarmId) ?? new Map<string, AbortController>();
    this.#open.set(swarm.swarmId, asked);
    // Once for all, for it grows with the members.
    const scope = scopeOf(swarm);
    const voters = new Set(swarm.votes.map(({ agentId }) => agentId));
    for (const member of swarm.members) {
      if (voters.has(member.agentId) || asked.has(member.agentId)) continue;
      const controller = new AbortController();
      asked.set(member.agentId, controller);
      const run = this.#askMember(swarm, { member, task, scope, signal: controller.signal });
      this.#running.add(run);
      void run.finally(() => {
        this.#running.delete(run);
        if (asked.get(member.agentId) === controller) asked.delete(member.agentId);
        if (asked.size === 0) this.#forget(swarm.swarmId, asked);
      });
    }
    if (asked.size === 0) this.#forget(swarm.swarmId, asked);
  }

  /** The swarms whose members are being asked. */
  get swarmIds(): readonly string[] {
    return [...this.#open.keys()];
  }

  /** Stops asking those who have voted, and everybody once the swarm has ended. */
  settle(swarm: Swarm): void {
    const asked = this.#open.get(swarm.swarmId);
    if (!asked) return;
    const isOver = swarm.status !== 'active';
    const done = isOver ? [...asked.keys()] : swarm.votes.map(({ agentId }) => agentId);
    for (const agentId of done) this.#stop(asked, agentId);
    if (isOver) this.#forget(swarm.swarmId, asked);
  }

  /** Stops asking, so that everybody can be asked for a vote that is bound to something else. */
  restart(swarm: Swarm, task: Proposal['task']): void {
    const asked = this.#open.get(swarm.swarmId);
    if (asked) for (const agentId of asked.keys()) this.#stop(asked, agentId);
    this.ask(swarm, task);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true;
    for (const asked of this.#open.values()) {
      for (const agentId of asked.keys()) this.#stop(asked, agentId);
    }
    await Promise.all(this.#running);
  }

  #stop(asked: Map<string, AbortController>, agentId: string): void {
    asked.get(agentId)?.abort();
    asked.delete(agentId);
  }

  #forget(swarmId: string, asked: Map<string, AbortController>): void {
    if (this.#open.get(swarmId) === asked) this.#open.delete(swarmId);
  }

  async #askMember(swarm: Swarm, request: Request): Promise<void> {
    const { onAnswer, log } = this.#options;
    const { member, signal } = request;
    try {
      const result = await this.#run(swarm, request);
      if (!signal.aborted) await onAnswer(swarm, member, readAnswer(result));
    } catch (error) {
      if (signal.aborted) return;
      const { agentId } = member;
      const { swarmId } = swarm;
      log.info({ err: error, swarmId, agentId }, 'a member gave no vote when it was asked');
    }
  }

  /** Asks again, less and less often, a member that was busy, away or too slow. */
  async #run(swarm: Swarm, request: Request): Promise<unknown> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await this.#runOnce(swarm, request, attempt);
      } catch (error) {
        const pauseMs = retryAfterMs[Math.min(attempt, retryAfterMs.length - 1)] ?? 0;
        const isOver = this.#options.now() + pauseMs >= swarm.expiresAtMs;
        if (isOver || !isRetryable(error)) throw error;
        await sleep(pauseMs, undefined, { signal: request.signal, ref: false });
      }
    }
  }

  async #runOnce(swarm: Swarm, request: Request, attempt: number): Promise<unknown> {
    const { runner, directory, now } = this.#options;
    const { member, task, scope, signal } = request;
    const { agentId, ownerId } = member;
    const agent = directory.find(agentId);
    // Whoever has the id now is not the one that was made a member.
    if (!agent || agent.ownerId !== ownerId) throw new Fault('not_found', 'the agent has gone');
    const leftMs = swarm.expiresAtMs - now();
    const { quorum } = faultToleranceOf(swarm);
    const input = {
      swarmId: swarm.swarmId,
      task,
      ballot: { ...scope, domain: voteDomain, agentId, name: swarm.name, quorum },
    };
    const timeoutMs = Math.max(1, Math.min(leftMs, answerMsMax));
    const asked = { type: 'vote', input, timeoutMs, priority: 'high' } as const;
    const idempotencyKey = `vote.${swarm.swarmId}.${scope.configHash.slice(0, 16)}.${agentId}.${attempt}`;
    // The time that is left is no part of what is asked: it shrinks while nobody asks.
    const fingerprint = idempotencyKey;
    const options = { askedBy: swarm.ownerId, idempotencyKey, fingerprint, signal };
    const { result } = await runner.run({ agentId, ownerId }, asked, options);
    return result;
  }
}

interface Request {
  readonly member: Member;
  readonly task: Proposal['task'];
  readonly scope: BallotScope;
  readonly signal: AbortSignal;
}

function isRetryable(error: unknown): boolean {
  return error instanceof Fault && codes[error.code].retryable;
}

/** Agents may answer anything. */
function readAnswer(result: unknown): VoteAnswer {
  if (typeof result !== 'object' || result === null) throw badAnswer();
  const { vote, confidence, signature } = result as Record<string, unknown>;
  const value = voteValues.find((known) => known === vote);
  const isFigure =
    confidence === undefined ||
    (typeof confidence === 'number' && confidence >= 0 && confidence <= 1);
  const isText = signature === undefined || typeof signature === 'string';
  if (value === undefined || !isFigure || !isText) throw badAnswer();
  return { vote: value, confidence, signature };
}

function badAnswer(): Fault {
  return new Fault('upstream', 'the agent’s answer is no vote');
}
