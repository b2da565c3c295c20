import type { Runtime } from '../runtimes/runtime.ts';
import type { Agent, AgentUse, RuntimeName } from './agent.ts';
import { AgentRun } from './agent-run.ts';
import { isFinal, type AgentRecord, type AgentState } from './agent-record.ts';
import type { Replica } from './agent-store.ts';
import {
  claimAgents,
  forgetKey,
  readEndedKeys,
  releaseAgents,
  renewLeases,
} from './lease-store.ts';
import type { Beginning, RunOptions } from './run-options.ts';
import type { SpareKeys } from './spare-keys.ts';

export interface SupervisorOptions extends Omit<RunOptions, 'replicaId'> {
  readonly replica: Replica;
  readonly spareKeys: Pick<SpareKeys, 'revokeLeft'>;
  readonly runtimes: ReadonlyMap<RuntimeName, Runtime>;
  /** No other process runs agents on this database. */
  readonly isAlone: boolean;
  /** How often it looks for agents that are over, or that nobody runs. */
  readonly lookMs: number;
}

const leaseMs = 15_000;
const renewEveryMs = 4_000;
/** A local agent whose machine has been gone for so long is started elsewhere. */
const strayMs = 600_000;
const claimMax = 200;
const silenceEveryMs = 15_000;
const keysEveryMs = 60_000;

/** Runs agents on this replica, each under a lease, and takes over those that nobody runs. */
export class Supervisor implements AsyncDisposable {
  readonly #options: SupervisorOptions;
  readonly #runs = new Map<string, AgentRun>();
  /** Those that the mesh had lost when it was last asked. */
  #silent: ReadonlySet<string> = new Set();
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #busy = new Map<string, Promise<void>>();
  #detach: () => void = () => {};
  #isClosed = false;

  constructor(options: SupervisorOptions) {
    this.#options = options;
  }

  /** Takes over what was left; resolves before all of it runs. */
  async start(): Promise<void> {
    const { directory, lookMs } = this.#options;
    this.#detach = directory.listen((state) => this.#heed(state));
    await this.#claim(this.#options.isAlone);
    this.#every(lookMs, 'look', () => this.#look());
    this.#every(renewEveryMs, 'renew', () => this.#renew());
    this.#every(silenceEveryMs, 'silence', () => this.#findSilent());
    this.#every(keysEveryMs, 'keys', () => this.#endKeys());
    void this.#once('keys', () => this.#endKeys());
  }

  /** Until when a lease lasts that is taken now. */
  leaseUntil(): Date {
    return new Date(Date.now() + leaseMs);
  }

  /** Begins to run an agent whose row this replica holds. */
  run(record: AgentRecord, beginning: Beginning): AgentRun {
    const { runtimes, replica, directory } = this.#options;
    const runtime = runtimes.get(record.agent.runtime);
    if (!runtime) throw new TypeError(`there is no runtime ${record.agent.runtime}`);
    const { id } = record.agent;
    directory.tell(record);
    const options = { ...this.#options, replicaId: replica.id };
    const run = new AgentRun({ record, runtime }, beginning, options);
    this.#runs.set(id, run);
    void this.#forgetAtEnd(id, run);
    return run;
  }

  /** What an agent takes now, if this replica runs it. */
  use(id: string): Promise<AgentUse | undefined> | undefined {
    return this.#runs.get(id)?.use();
  }

  /** Looks for agents that nobody runs, now. */
  wake(): Promise<void> {
    return this.#once('look', () => this.#look());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#detach();
    for (const timer of this.#timers) clearInterval(timer);
    await Promise.all(this.#busy.values());
    await Promise.all([...this.#runs.values()].map((run) => run.close()));
    const { sql, replica, log } = this.#options;
    await releaseAgents(sql, replica.id, new Date()).catch((err: unknown) => {
      log.warn({ err }, 'agents could not be given back; others take them when the leases end');
    });
  }

  async #forgetAtEnd(id: string, run: AgentRun): Promise<void> {
    await run.done;
    if (this.#runs.get(id) === run) this.#runs.delete(id);
  }

  /** Some replica was asked to end an agent that runs here. */
  #heed({ agent, wanted }: AgentState): void {
    if (wanted && !isFinal(agent)) this.#runs.get(agent.id)?.end(wanted);
  }

  async #look(): Promise<void> {
    const nowMs = Date.now();
    for (const run of this.#runs.values()) {
      const { expiresAtMs } = run.agent;
      if (expiresAtMs !== undefined && expiresAtMs <= nowMs) run.end('expired');
    }
    await this.#claim(false);
  }

  async #claim(takesLeased: boolean): Promise<void> {
    const { sql, replica, logs } = this.#options;
    if (this.#isClosed || !(takesLeased || this.#mayBeFree())) return;
    const nowMs = Date.now();
    const claimed = await claimAgents(sql, {
      replica,
      now: new Date(nowMs),
      leaseUntil: this.leaseUntil(),
      strayBefore: new Date(nowMs - strayMs),
      takesLeased,
      countMax: claimMax,
    });
    for (const { record, isStray } of claimed) {
      const { agent } = record;
      await logs.open(agent.id);
      const run = this.run(record, { kind: 'claimed', isStray });
      if (isOver(agent)) run.end('expired');
    }
  }

  /** Whether there are agents that this replica does not run: else no statement is needed. */
  #mayBeFree(): boolean {
    for (const { agent } of this.#options.directory.live()) {
      if (!this.#runs.has(agent.id)) return true;
    }
    return false;
  }

  async #renew(): Promise<void> {
    if (this.#runs.size === 0) return;
    const { sql, replica } = this.#options;
    const runs = [...this.#runs];
    const uses = new Map(
      await Promise.all(runs.map(async ([id, run]) => [id, await run.use()] as const)),
    );
    const lease = { replicaId: replica.id, until: this.leaseUntil() };
    const kept = await renewLeases(sql, uses, lease);
    for (const [id, run] of runs) if (!kept.has(id)) run.lose();
  }

  /** A program that runs and that the mesh has not heard for long hangs. */
  async #findSilent(): Promise<void> {
    const running = [...this.#runs.values()].filter(({ agent }) => agent.status === 'running');
    if (running.length === 0) return;
    const before = this.#silent;
    const ids = new Set(running.map(({ agent }) => agent.id));
    this.#silent = new Set(await this.#options.presence.silent(ids));
    for (const run of running) {
      const { id } = run.agent;
      if (!before.has(id) || !this.#silent.has(id)) continue;
      await run.giveUp('the mesh had not heard it for long');
    }
  }

  /** Keys that could not be revoked in time: of ended agents, and what dead replicas kept ready. */
  async #endKeys(): Promise<void> {
    const { sql, credentials } = this.#options;
    for (const { id, keyId } of await readEndedKeys(sql)) {
      await credentials.revoke(keyId);
      await forgetKey(sql, id);
    }
    await this.#options.spareKeys.revokeLeft();
  }

  #every(ms: number, name: string, work: () => Promise<void>): void {
    this.#timers.push(setInterval(() => void this.#once(name, work), ms).unref());
  }

  /** Who asks while it is under way waits for it; failures are logged. */
  #once(name: string, work: () => Promise<void>): Promise<void> {
    const { log } = this.#options;
    const current = this.#busy.get(name);
    if (current) return current;
    const busy = work()
      .catch((err: unknown) => log.warn({ err, work: name }, 'agents could not be looked after'))
      .finally(() => this.#busy.delete(name));
    this.#busy.set(name, busy);
    return busy;
  }
}

function isOver({ expiresAtMs }: Agent): boolean {
  return expiresAtMs !== undefined && expiresAtMs <= Date.now();
}
