import type { Agent, AgentDirectory, AgentStatus } from './agent.ts';
import { AgentRecord } from './agent-record.ts';
import type { AgentRow, AgentState, Removal } from './agent-row.ts';
import { CapabilityIndex, type Found, type IndexOptions, type Wanted } from './capability-index.ts';

/** How long an agent that is gone is remembered, against news of it that come late. */
const rememberedMs = 600_000;
/** More than this many nobody tries one after the other. */
const candidatesMax = 64;
const capabilitiesMax = 1_000;

export interface DirectoryOptions extends Partial<IndexOptions> {
  /** Told once for all changes of a turn of the event loop that a waiting query may care for. */
  readonly onChange?: () => void;
}

/** The agents as this replica knows them, whichever way the news of them came and in what order. */
export class Directory implements AgentDirectory {
  readonly #now: () => number;
  readonly #onChange: () => void;
  readonly #agents = new Map<string, AgentRecord>();
  readonly #index: CapabilityIndex;
  readonly #gone = new Map<string, { readonly revision: number; readonly atMs: number }>();
  #sortedIds: readonly string[] | undefined;
  #isChangePending = false;

  constructor({ now = Date.now, random = Math.random, onChange }: DirectoryOptions = {}) {
    this.#now = now;
    this.#onChange = onChange ?? (() => {});
    this.#index = new CapabilityIndex({ now, random });
  }

  get size(): number {
    return this.#agents.size;
  }

  find(agentId: string): AgentRecord | undefined {
    return this.#agents.get(agentId);
  }

  candidates(capabilities: readonly string[]): readonly Agent[] {
    return this.#index.find({ capabilities }, candidatesMax).agents;
  }

  observe(agentId: string, { isFailure }: { readonly isFailure: boolean }): void {
    this.#agents.get(agentId)?.observe(isFailure, this.#now());
  }

  occupy(agentId: string, share: number): void {
    this.#agents.get(agentId)?.occupy(share);
  }

  discover(wanted: Wanted, limit: number): Found {
    return this.#index.find(wanted, limit);
  }

  /** Grows whenever the answer to a discovery of these capabilities may have changed. */
  indexOf(capabilities: readonly string[]): number {
    return this.#index.indexOf(capabilities);
  }

  /** What the agents that are not offline can do, by name; at most a thousand. */
  capabilities(): readonly string[] {
    return this.#index.capabilities().toSorted().slice(0, capabilitiesMax);
  }

  all(): IterableIterator<AgentRecord> {
    return this.#agents.values();
  }

  /** By id. */
  sorted(): readonly AgentRecord[] {
    this.#sortedIds ??= [...this.#agents.keys()].toSorted();
    return this.#sortedIds.flatMap((id) => this.#agents.get(id) ?? []);
  }

  /** Takes over an agent unless a newer version of it is known. */
  put(row: AgentRow): void {
    const before = this.#agents.get(row.agentId);
    const newest = before?.revision ?? this.#gone.get(row.agentId)?.revision ?? 0;
    if (row.revision <= newest) return;
    const agent = new AgentRecord(row);
    if (before) {
      agent.inherit(before);
      this.#index.remove(before, row.revision);
    } else {
      this.#sortedIds = undefined;
    }
    this.#gone.delete(row.agentId);
    this.#agents.set(row.agentId, agent);
    this.#index.add(agent);
    this.#noteChange();
  }

  /** Takes over what changed of an agent; the status that it had before when that is another one now. */
  apply(state: AgentState): AgentStatus | undefined {
    const agent = this.#agents.get(state.agentId);
    const before = agent?.status;
    if (!agent?.apply(state) || before === undefined || before === agent.status) return undefined;
    this.#index.move(agent, before);
    this.#noteChange();
    return before;
  }

  remove({ agentId, revision }: Removal): void {
    const agent = this.#agents.get(agentId);
    const newest = agent?.revision ?? this.#gone.get(agentId)?.revision ?? 0;
    if (newest > revision) return;
    this.#gone.set(agentId, { revision, atMs: this.#now() });
    if (!agent) return;
    this.#agents.delete(agentId);
    this.#index.remove(agent, revision);
    this.#sortedIds = undefined;
    this.#noteChange();
  }

  /** Forgets agents that went long ago. */
  prune(): void {
    const beforeMs = this.#now() - rememberedMs;
    for (const [agentId, { atMs }] of this.#gone) {
      if (atMs >= beforeMs) return;
      this.#gone.delete(agentId);
    }
  }

  #noteChange(): void {
    if (this.#isChangePending) return;
    this.#isChangePending = true;
    setImmediate(() => {
      this.#isChangePending = false;
      this.#onChange();
    });
  }
}
