import { agentStatuses, type AgentStatus } from './agent.ts';
import { statusRanks, type AgentRecord } from './agent-record.ts';

/** What discovery asks for; an agent has all of it. */
export interface Wanted {
  readonly capabilities: readonly string[];
  readonly region?: string | undefined;
  /** Any but offline when absent. */
  readonly status?: AgentStatus | undefined;
  /** A further condition. */
  readonly holds?: ((agent: AgentRecord) => boolean) | undefined;
}

export interface Found {
  /** At most as many as were asked for, the best first. */
  readonly agents: readonly AgentRecord[];
  readonly totalFound: number;
}

/** The agents found under one key, an array for each status; the order within one means nothing. */
class Posting {
  readonly ranks: AgentRecord[][] = agentStatuses.map(() => []);
  /** The same but for those that are offline. */
  readonly routable: readonly AgentRecord[][] = this.ranks.slice(0, statusRanks.offline);
  /** The revision of the last change that a listener must hear of. */
  index = 0;

  get size(): number {
    return this.ranks.reduce((sum, { length }) => sum + length, 0);
  }

  add(agent: AgentRecord): void {
    this.#rankOf(agent.status).push(agent);
  }

  remove(agent: AgentRecord, status: AgentStatus): void {
    const rank = this.#rankOf(status);
    const at = rank.indexOf(agent);
    const last = rank.pop();
    if (last && at >= 0 && at < rank.length) rank[at] = last;
  }

  #rankOf(status: AgentStatus): AgentRecord[] {
    return this.ranks[statusRanks[status]] ?? [];
  }
}

export interface IndexOptions {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** 0 (inclusive) to 1 (exclusive). */
  readonly random: () => number;
}

/** Finds agents by what they can do: from the smallest of the capabilities' own arrays. */
export class CapabilityIndex {
  readonly #options: IndexOptions;
  readonly #postings = new Map<string, Posting>();
  readonly #all = new Posting();
  /** The revision of the last change that left a capability without agents. */
  #emptiedIndex = 1;

  constructor(options: IndexOptions) {
    this.#options = options;
    this.#all.index = 1;
  }

  add(agent: AgentRecord): void {
    for (const posting of this.#open(agent)) {
      posting.add(agent);
      posting.index = Math.max(posting.index, agent.revision);
    }
  }

  /** To be called when an agent's status has changed; `before` is where the index has it. */
  move(agent: AgentRecord, before: AgentStatus): void {
    for (const posting of this.#open(agent)) {
      posting.remove(agent, before);
      posting.add(agent);
      posting.index = Math.max(posting.index, agent.revision);
    }
  }

  remove(agent: AgentRecord, revision: number): void {
    for (const posting of this.#open(agent)) {
      posting.remove(agent, agent.status);
      posting.index = Math.max(posting.index, revision);
    }
    for (const key of keysOf(agent)) this.#dropEmpty(key);
  }

  /**
   * Grows whenever the answer for these capabilities may have changed, loads apart: an agent came,
   * went, or has another status.
   */
  indexOf(capabilities: readonly string[]): number {
    if (capabilities.length === 0) return this.#all.index;
    // A change touches all capabilities of its agent, so that of each one wanted.
    let least = Number.POSITIVE_INFINITY;
    for (const capability of capabilities) {
      least = Math.min(least, this.#postings.get(capability)?.index ?? this.#emptiedIndex);
    }
    return least;
  }

  /** What agents that are not offline can do. */
  capabilities(): string[] {
    const found: string[] = [];
    for (const [key, { ranks, size }] of this.#postings) {
      const offline = ranks[statusRanks.offline]?.length ?? 0;
      if (size > offline && !key.includes('\u0000')) found.push(key);
    }
    return found;
  }

  /** The best first: by status, then by load, of two random ones the less loaded each time. */
  find(wanted: Wanted, limit: number): Found {
    const keys = keysWanted(wanted);
    const key = this.#rarest(keys);
    const posting = key === undefined ? this.#all : this.#postings.get(key);
    if (!posting) return { agents: [], totalFound: 0 };
    const routable = wanted.status
      ? [posting.ranks[statusRanks[wanted.status]] ?? []]
      : posting.routable;
    const others = keys.length < 2 ? [] : wanted.capabilities.filter((_, at) => keys[at] !== key);
    const isPlain = others.length === 0 && !wanted.holds;
    const agents: AgentRecord[] = [];
    let totalFound = 0;
    for (const rank of routable) {
      const fitting = isPlain ? rank : rank.filter((agent) => fits(agent, others, wanted.holds));
      totalFound += fitting.length;
      this.#draw(fitting, limit - agents.length, agents);
    }
    return { agents, totalFound };
  }

  /** Moves those it draws to the front of `from`, whose order means nothing. */
  #draw(from: AgentRecord[], limit: number, into: AgentRecord[]): void {
    const nowMs = this.#options.now();
    const count = Math.min(limit, from.length);
    for (let at = 0; at < count; at += 1) {
      const chosen = this.#drawOne(from, at, nowMs);
      const agent = from[chosen];
      const first = from[at];
      if (!agent || !first) return;
      from[chosen] = first;
      from[at] = agent;
      into.push(agent);
    }
  }

  /** The less loaded of two from a place on. */
  #drawOne(from: readonly AgentRecord[], at: number, nowMs: number): number {
    const { random } = this.#options;
    const rest = from.length - at;
    const one = at + Math.floor(random() * rest);
    const score = from[one]?.score(nowMs) ?? 0;
    // Nobody has less to do than nothing: most reading of agents is spared where many are idle.
    if (rest < 2 || score === 0) return one;
    const other = at + ((one - at + 1 + Math.floor(random() * (rest - 1))) % rest);
    return (from[other]?.score(nowMs) ?? 0) < score ? other : one;
  }

  /** The key with the fewest agents; undefined when there are no keys. */
  #rarest(keys: readonly string[]): string | undefined {
    if (keys.length < 2) return keys[0];
    let rarest: string | undefined;
    let least = Number.POSITIVE_INFINITY;
    for (const key of keys) {
      const size = this.#postings.get(key)?.size ?? 0;
      if (size >= least) continue;
      rarest = key;
      least = size;
    }
    return rarest;
  }

  *#open(agent: AgentRecord): Generator<Posting> {
    yield this.#all;
    for (const key of keysOf(agent)) {
      let posting = this.#postings.get(key);
      if (!posting) {
        posting = new Posting();
        this.#postings.set(key, posting);
      }
      yield posting;
    }
  }

  #dropEmpty(key: string): void {
    const posting = this.#postings.get(key);
    if (!posting || posting.size > 0) return;
    this.#emptiedIndex = Math.max(this.#emptiedIndex, posting.index);
    this.#postings.delete(key);
  }
}

/** Nothing that is stored holds U+0000, so that no capability reads like one of a region. */
function regionKey(capability: string, region: string): string {
  return `${capability}\u0000${region}`;
}

/** An agent is found under each capability, and, where it has a region, under each one there. */
function* keysOf({ capabilitySet, region }: AgentRecord): Generator<string> {
  yield* capabilitySet;
  if (region === undefined) return;
  yield regionKey('', region);
  for (const capability of capabilitySet) yield regionKey(capability, region);
}

function keysWanted({ capabilities, region }: Wanted): readonly string[] {
  if (region === undefined) return capabilities;
  if (capabilities.length === 0) return [regionKey('', region)];
  return capabilities.map((capability) => regionKey(capability, region));
}

/** Of agents that were found under one key: whether they have the other capabilities too. */
function fits(agent: AgentRecord, others: readonly string[], holds: Wanted['holds']): boolean {
  for (const capability of others) if (!agent.capabilitySet.has(capability)) return false;
  return holds?.(agent) ?? true;
}
