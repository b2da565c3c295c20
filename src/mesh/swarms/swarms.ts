import { Fault } from '../../kit/errors.ts';
import { newId } from '../../kit/ids.ts';
import type { Log } from '../../kit/log.ts';
import type { Activity } from '../activity/activity.ts';
import type { AgentDirectory } from '../agents/agent.ts';
import type { TaskRunner } from '../tasks/task.ts';
import { Asking, type VoteAnswer } from './asking.ts';
import { proposalIdOf, readVoteKey, type VoteValue } from './ballot.ts';
import { Changes, noSwarm } from './changes.ts';
import { Deadlines } from './deadlines.ts';
import { tellChange } from './events.ts';
import * as lists from './list-store.ts';
import { safeQuorum } from './quorum.ts';
import { checkRequest, type SwarmRequest } from './request.ts';
import * as store from './swarm-store.ts';
import * as moves from './swarm.ts';
import type { CastOutcome, Member, Swarm } from './swarm.ts';
import {
  checkVote,
  joinRefusal,
  lateVote,
  speaksFor,
  unsignedAnswer,
  type Voter,
} from './voter.ts';

export interface SwarmsOptions {
  readonly sql: store.SwarmSql;
  readonly directory: AgentDirectory;
  readonly runner: TaskRunner;
  readonly activity: Activity;
  /** Names this mesh in what members sign; the same on all replicas. */
  readonly meshId: string;
  readonly log: Log;
  /** Milliseconds since the epoch; the process's clock when absent. */
  readonly now?: () => number;
}

/** A vote as a caller casts it. */
export interface VoteRequest {
  readonly agentId: string;
  readonly vote: VoteValue;
  /** 0..1; 1 when absent. */
  readonly confidence?: number | undefined;
  /** Base64url, by the agent's vote key over `ballotBytes`. */
  readonly signature?: string | undefined;
}

/** What became of a vote that counts: `repeated` when it was counted before. */
export interface VoteReceipt {
  readonly swarm: Swarm;
  readonly outcome: Extract<CastOutcome, 'counted' | 'repeated'>;
}

const timeoutMsDefault = 30_000;
const activeMax = 200;
const sweepEveryMs = 60 * 60_000;
/** How long a swarm can be read after its end. */
const keptMs = 90 * 24 * 60 * 60_000;

/** Swarms of agents that decide together; the same for REST and gRPC. */
export class Swarms implements AsyncDisposable {
  readonly #options: SwarmsOptions;
  readonly #now: () => number;
  readonly #changes: Changes;
  readonly #deadlines: Deadlines;
  readonly #asking: Asking;
  #sweptAtMs = 0;

  /** Watches no deadline and asks for no vote of earlier swarms until it is started. */
  constructor(options: SwarmsOptions) {
    const { sql, directory, runner, activity, log, now = Date.now } = options;
    this.#options = options;
    this.#now = now;
    this.#asking = new Asking({
      runner,
      directory,
      now,
      log,
      onAnswer: (swarm, member, answer) => this.#castAnswer(swarm, member, answer),
    });
    this.#changes = new Changes({
      sql,
      now,
      onChange: (before, after) => {
        this.#asking.settle(after);
        tellChange(activity, before, after);
      },
    });
    this.#deadlines = new Deadlines({
      endDue: () => this.#endDue(),
      next: async () => (await lists.nextDeadline(sql))?.getTime(),
      now,
      log,
    });
  }

  /**
   * From now on deadlines pass, also those of swarms from before; asks the members whose vote is
   * missing. The directory must know its agents by now.
   */
  async start(): Promise<void> {
    this.#deadlines.start();
    await this.#askAgain();
  }

  /**
   * Stores an active swarm and begins to ask its members. Throws `invalid` for a threshold that its
   * members cannot reach, `not_found` for an agent that there is not, `exhausted` at 200 active ones.
   */
  async create(request: SwarmRequest, creator: Voter): Promise<Swarm> {
    const swarm = this.#newSwarm(request, this.#ownerOf(creator));
    const { task } = request;
    const isStored = await store.insertSwarm(this.#options.sql, swarm, { task, activeMax });
    if (!isStored) {
      const message = `you have ${activeMax} active swarms: wait until one has ended`;
      throw new Fault('exhausted', message, { reason: 'too_many_swarms', retryAfter: 30 });
    }
    const { swarmId, name, members } = swarm;
    const agents = members.map(({ agentId }) => agentId);
    this.#options.activity.tell('swarm-created', agents[0] ?? '', { swarmId, name, agents });
    this.#deadlines.expect(swarm.expiresAtMs);
    this.#asking.ask(swarm, task);
    return swarm;
  }

  /**
   * Casts a vote; it is stored when this resolves. Throws `not_found`, `forbidden` for a vote that is
   * not the caller's to cast, `invalid` for a signature that does not hold, and `conflict` for a vote
   * that differs from the agent's first or comes too late: such a vote is kept and does not count.
   */
  async vote(swarmId: string, request: VoteRequest, voter: Voter): Promise<VoteReceipt> {
    const { directory } = this.#options;
    const { swarm, outcome } = await this.#changes.apply(swarmId, (current) => {
      checkVote(current, request, { voter, directory });
      const { agentId, vote, confidence = 1, signature } = request;
      return moves.castVote(current, { agentId, vote, confidence, signature }, this.#now());
    });
    if (outcome === 'counted' || outcome === 'repeated') return { swarm, outcome };
    throw lateVote(swarm, request, outcome);
  }

  /**
   * Notes that a member takes part, or takes a further agent in, which the swarm's owner may do until
   * the first vote. Throws `not_found`, `forbidden` and `conflict`.
   */
  async join(swarmId: string, agentId: string, voter: Voter): Promise<Swarm> {
    const { directory, sql } = this.#options;
    const member = memberFor(agentId, directory);
    let isGrown = false;
    const { swarm } = await this.#changes.apply(swarmId, (current) => {
      const known = moves.memberOf(current, agentId);
      isGrown = known === undefined;
      const isAllowed = known
        ? speaksFor(known, voter, directory)
        : this.#maySay(current, voter) || this.#isOwners(current, { member, voter });
      if (!isAllowed) throw joinRefusal(current, agentId, 'forbidden');
      const step = moves.join(current, member, this.#now());
      if (step.outcome !== 'joined') throw joinRefusal(current, agentId, step.outcome);
      return step;
    });
    // Nobody's vote for the smaller swarm would hold any more.
    if (isGrown) this.#asking.restart(swarm, await store.readTask(sql, swarmId));
    return swarm;
  }

  /** Ends an active swarm; throws `not_found`, `forbidden`, and `conflict` for one that has ended. */
  async cancel(swarmId: string, voter: Voter, isAdmin = false): Promise<Swarm> {
    const { swarm, outcome } = await this.#changes.apply(swarmId, (current) => {
      if (!isAdmin && !this.#maySay(current, voter)) {
        const message = 'only the owner of a swarm may cancel it';
        throw new Fault('forbidden', message, { reason: 'not_swarm_owner', detail: { swarmId } });
      }
      return moves.cancel(current, this.#now());
    });
    if (outcome) return swarm;
    const detail = { swarmId, status: swarm.status };
    throw new Fault('conflict', 'the swarm has ended', { reason: 'swarm_ended', detail });
  }

  /** A swarm as it is now; throws `not_found`. */
  async read(swarmId: string): Promise<Swarm> {
    const swarm = await store.readSwarm(this.#options.sql, swarmId);
    if (!swarm) throw noSwarm(swarmId);
    if (moves.expire(swarm, this.#now()) === swarm) return swarm;
    const step = await this.#changes.apply(swarmId, (current) => ({ swarm: current, outcome: 0 }));
    return step.swarm;
  }

  list(page: lists.SwarmPage) {
    return lists.listSwarms(this.#options.sql, page);
  }

  countActive(): Promise<number> {
    return lists.countActive(this.#options.sql);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#deadlines[Symbol.asyncDispose]();
    await this.#asking[Symbol.asyncDispose]();
    await this.#changes.settled();
  }

  #newSwarm(request: SwarmRequest, ownerId: string): Swarm {
    const { name, task, agents, timeoutMs = timeoutMsDefault } = request;
    checkRequest(request);
    const createdAtMs = this.#now();
    return {
      swarmId: newId('swm'),
      name,
      ownerId,
      meshId: this.#options.meshId,
      proposalId: proposalIdOf({ name, task }),
      threshold: request.threshold ?? safeQuorum(agents.length),
      timeoutMs,
      version: 1,
      status: 'active',
      createdAtMs,
      expiresAtMs: createdAtMs + timeoutMs,
      endedAtMs: undefined,
      members: agents.map((agentId) => memberFor(agentId, this.#options.directory)),
      votes: [],
    };
  }

  #ownerOf({ subject, agentId }: Voter): string {
    const ownerId = subject ?? this.#options.directory.find(agentId ?? '')?.ownerId;
    if (ownerId !== undefined) return ownerId;
    throw new Fault('forbidden', 'the agent is not registered', { reason: 'unknown_caller' });
  }

  #maySay({ ownerId }: Swarm, { subject }: Voter): boolean {
    return subject === ownerId;
  }

  /** An agent may bring itself when it is of whoever created the swarm. */
  #isOwners(swarm: Swarm, { member, voter }: { readonly member: Member; readonly voter: Voter }) {
    const { directory } = this.#options;
    return member.ownerId === swarm.ownerId && speaksFor(member, voter, directory);
  }

  async #castAnswer(swarm: Swarm, member: Member, answer: VoteAnswer): Promise<void> {
    const { agentId, voteKey } = member;
    if (voteKey !== undefined && answer.signature === undefined)
      throw unsignedAnswer(swarm, agentId);
    // Whoever has the id now has answered; only the owner of the member speaks for it.
    const subject = this.#options.directory.find(agentId)?.ownerId;
    await this.vote(swarm.swarmId, { ...answer, agentId }, { subject });
  }

  async #endDue(): Promise<void> {
    const { sql } = this.#options;
    const nowMs = this.#now();
    for (const swarmId of await lists.listDue(sql, new Date(nowMs))) await this.read(swarmId);
    const asked = this.#asking.swarmIds;
    if (asked.length > 0) {
      // Another replica may have ended them.
      const ended = await lists.listEnded(sql, asked);
      for (const swarmId of ended) this.#asking.settle(await this.read(swarmId));
    }
    if (nowMs - this.#sweptAtMs < sweepEveryMs) return;
    this.#sweptAtMs = nowMs;
    await lists.deleteEndedBefore(sql, new Date(nowMs - keptMs));
  }

  async #askAgain(): Promise<void> {
    const { sql } = this.#options;
    let after = '';
    for (;;) {
      const page = await lists.listActive(sql, after);
      for (const swarmId of page) {
        const swarm = await this.read(swarmId);
        if (swarm.status === 'active') this.#asking.ask(swarm, await store.readTask(sql, swarmId));
      }
      const last = page.at(-1);
      if (last === undefined) return;
      after = last;
    }
  }
}

function memberFor(agentId: string, directory: AgentDirectory): Member {
  const agent = directory.find(agentId);
  if (!agent) {
    const options = { reason: 'agent_not_found', detail: { agentId } };
    throw new Fault('not_found', `there is no agent ${agentId}`, options);
  }
  const { ownerId, voteKey } = agent;
  const isUsable = voteKey !== undefined && readVoteKey(voteKey) !== undefined;
  return { agentId, ownerId, voteKey: isUsable ? voteKey : undefined, joinedAtMs: undefined };
}
