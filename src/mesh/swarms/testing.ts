import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { Database } from '../../kit/database/database.ts';
import { openTestTables } from '../../kit/database/testing.ts';
import { Fault } from '../../kit/errors.ts';
import { silentLog } from '../../kit/testing.ts';
import type { Activity } from '../activity/activity.ts';
import type { Agent, AgentDirectory } from '../agents/agent.ts';
import type { RunOptions, Task, TaskOutcome, TaskRunner, TaskTarget } from '../tasks/task.ts';
import { signBallot, type VoteValue } from './ballot.ts';
import { scopeOf, type CastVote, type Swarm } from './swarm.ts';
import type { SwarmSql } from './swarm-store.ts';
import { Swarms } from './swarms.ts';

/** A database with empty tables of the mesh. */
export function openSwarmDatabase(): Promise<Database> {
  return openTestTables('mesh', new URL('../migrations/', import.meta.url));
}

export interface VoteKeys {
  readonly voteKey: string;
  readonly privateKey: KeyObject;
}

export function makeVoteKeys(): VoteKeys {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  return { voteKey: publicKey.export({ format: 'jwk' }).x ?? '', privateKey };
}

/** Agents that a test puts there, each with a vote key. */
export class SetDirectory implements AgentDirectory {
  readonly #agents = new Map<string, Agent>();
  readonly keys = new Map<string, VoteKeys>();

  get size(): number {
    return this.#agents.size;
  }

  add(agentId: string, over: Partial<Agent> = {}): Agent {
    const keys = this.keys.get(agentId) ?? makeVoteKeys();
    this.keys.set(agentId, keys);
    const agent: Agent = {
      agentId,
      registrationId: `reg_${agentId}`,
      ownerId: `owner of ${agentId}`,
      capabilities: [],
      metadata: {},
      endpoints: {},
      status: 'active',
      load: 0,
      registeredAtMs: 0,
      lastSeenMs: 0,
      isIdempotent: false,
      publicKey: undefined,
      voteKey: keys.voteKey,
      ...over,
    };
    this.#agents.set(agentId, agent);
    return agent;
  }

  remove(agentId: string): void {
    this.#agents.delete(agentId);
  }

  find(agentId: string): Agent | undefined {
    return this.#agents.get(agentId);
  }

  candidates(): readonly Agent[] {
    return [];
  }

  observe(): void {}

  occupy(): void {}
}

export interface AskedTask {
  readonly agentId: string;
  readonly task: Omit<Task, 'taskId'>;
  readonly options: RunOptions;
}

/** Runs tasks as a test says; agents that it says nothing of never answer. */
export class SetRunner implements TaskRunner {
  readonly asked: AskedTask[] = [];
  readonly answers = new Map<string, (asked: AskedTask) => Promise<unknown>>();

  async run(target: TaskTarget, task: Omit<Task, 'taskId'>, options: RunOptions = {}) {
    const agentId = 'agentId' in target ? target.agentId : '';
    const asked = { agentId, task, options };
    this.asked.push(asked);
    const answer = this.answers.get(agentId) ?? neverAnswer;
    const result = await answer(asked);
    const outcome: TaskOutcome = {
      taskId: 'tsk',
      status: 'completed',
      result,
      durationMs: 1,
      executedBy: agentId,
    };
    return outcome;
  }
}

function neverAnswer({ options: { signal } }: AskedTask): Promise<never> {
  return new Promise((_resolve, reject) => {
    const stop = () => reject(new Fault('cancelled', 'not needed any more'));
    if (signal?.aborted) stop();
    signal?.addEventListener('abort', stop);
  });
}

/** What was told, in order. */
export class SetActivity implements Activity {
  readonly told: { type: string; agentId: string; data: Readonly<Record<string, unknown>> }[] = [];

  tell(type: string, agentId: string, data: Readonly<Record<string, unknown>>): void {
    this.told.push({ type, agentId, data });
  }
}

/** One mesh that a test looks into; its replicas share everything but their process. */
export class SwarmGround {
  readonly directory = new SetDirectory();
  readonly runner = new SetRunner();
  readonly activity = new SetActivity();
  readonly meshId = 'https://mesh.test';
  nowMs = Date.UTC(2026, 10, 21, 12);

  readonly now = (): number => this.nowMs;

  open(sql: SwarmSql): Swarms {
    const { directory, runner, activity, meshId, now } = this;
    return new Swarms({ sql, directory, runner, activity, meshId, now, log: silentLog });
  }

  /** The agents `a1` … `an`. */
  addAgents(count: number): string[] {
    const names = Array.from({ length: count }, (_, at) => `a${at + 1}`);
    for (const name of names) this.directory.add(name);
    return names;
  }

  sign(swarm: Swarm, agentId: string, vote: VoteValue): string {
    const keys = this.directory.keys.get(agentId);
    if (!keys) throw new Error(`${agentId} was not added`);
    return signBallot({ ...scopeOf(swarm), agentId, vote }, keys.privateKey);
  }
}

/** An active swarm of `a1` … `an` that no database knows. */
export function bareSwarm(count: number, over: Partial<Swarm> = {}): Swarm {
  return {
    swarmId: 'swm_1',
    name: 'release',
    ownerId: 'usr_1',
    meshId: 'https://mesh.test',
    proposalId: 'p',
    threshold: 1,
    timeoutMs: 1_000,
    version: 1,
    status: 'active',
    createdAtMs: 0,
    expiresAtMs: 1_000,
    endedAtMs: undefined,
    members: Array.from({ length: count }, (_, at) => ({
      agentId: `a${at + 1}`,
      ownerId: 'usr_1',
      voteKey: undefined,
      joinedAtMs: undefined,
    })),
    votes: [],
    ...over,
  };
}

export function voteOf(agentId: string, vote: VoteValue, over: Partial<CastVote> = {}): CastVote {
  return { agentId, vote, confidence: 1, signature: undefined, ...over };
}
