import type { Bus, Subscription, Topic } from '../../kit/bus/bus.ts';
import { Outlet } from '../../kit/bus/outlet.ts';
import { newsRetention } from '../../kit/bus/table-replica.ts';
import { hasUnheardWriters, UnheardWritersWatch } from '../../kit/bus/unheard-writers.ts';
import type { Database } from '../../kit/database/database.ts';
import type { Log } from '../../kit/log.ts';
import { recentEntries } from '../../kit/recent-entries.ts';
import { agentsTopic } from '../events.ts';
import { isFinal, type AgentState } from './agent-record.ts';
import { readLiveAgents } from './agent-store.ts';

/** What replicas tell one another. */
type AgentNews = AgentState | { readonly removedId: string };

export interface AgentDirectoryOptions {
  readonly sql: Pick<Database, 'query' | 'dialect'>;
  readonly bus: Bus;
  readonly log: Log;
}

/** Enough to know late news of what has ended. */
const endedMax = 10_000;
/** How often memory is compared with a table that others write to, for a bus may lose what they tell. */
const compareMs = 30_000;

/** All agents that have not ended, in the memory of every replica. */
export class AgentDirectory implements AsyncDisposable {
  readonly #options: AgentDirectoryOptions;
  readonly #outlet: Outlet<AgentNews>;
  readonly #topic: Topic<AgentNews>;
  readonly #live = new Map<string, AgentState>();
  readonly #ended = recentEntries<number>(endedMax);
  readonly #listeners = new Set<(state: AgentState) => void>();
  readonly #waiters = new Map<string, Set<() => void>>();
  #subscription: Subscription | undefined;
  #timer: NodeJS.Timeout | undefined;
  #watch: UnheardWritersWatch | undefined;
  #reading: Promise<void> = Promise.resolve();

  constructor(options: AgentDirectoryOptions) {
    const { bus, log } = options;
    this.#options = options;
    this.#topic = bus.topic<AgentNews>(agentsTopic, newsRetention);
    this.#outlet = new Outlet({ topic: this.#topic, what: 'news of agents', log });
  }

  /** Resolves when memory holds what the table does. */
  async start(): Promise<void> {
    this.#subscription = await this.#topic.subscribe(({ data }) => this.#hear(data), {
      onGap: () => void this.reload(),
    });
    await this.#read();
    const { sql, bus } = this.#options;
    if (sql.dialect === 'pglite') return;
    const reload = () => void this.reload();
    this.#timer = setInterval(reload, compareMs).unref();
    this.#watch = new UnheardWritersWatch(() => hasUnheardWriters(bus, sql), reload);
  }

  /** Those that have not ended, in no order. */
  live(): Iterable<AgentState> {
    return this.#live.values();
  }

  /** One that has not ended. */
  get(id: string): AgentState | undefined {
    return this.#live.get(id);
  }

  /** Told of each newer state, on every replica. */
  listen(listener: (state: AgentState) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Takes over a state that is stored, and tells the others. */
  tell(state: AgentState): void {
    const { agent, revision, wanted } = state;
    const news = { agent, revision, ...(wanted ? { wanted } : {}) };
    this.#take(news);
    this.#outlet.tell(news);
  }

  /** An agent is forgotten altogether. */
  tellRemoved(removedId: string): void {
    this.#hear({ removedId });
    this.#outlet.tell({ removedId });
  }

  /** Resolves when the agent has ended or is gone, or after the limit. */
  untilEnded(id: string, limitMs: number): Promise<void> {
    if (!this.#live.has(id)) return Promise.resolve();
    return new Promise((resolve) => {
      const waiters = this.#waiters.get(id) ?? new Set();
      this.#waiters.set(id, waiters);
      const end = () => {
        clearTimeout(timer);
        waiters.delete(end);
        if (waiters.size === 0) this.#waiters.delete(id);
        resolve();
      };
      const timer = setTimeout(end, limitMs);
      waiters.add(end);
    });
  }

  /** Reads the table again, for news may have been lost. */
  reload(): Promise<void> {
    this.#reading = this.#reading
      .then(() => this.#read())
      .catch((err: unknown) => {
        this.#options.log.warn({ err }, 'agents could not be read again');
      });
    return this.#reading;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    this.#watch?.[Symbol.dispose]();
    await this.#subscription?.close();
    await this.#reading;
    await this.#outlet[Symbol.asyncDispose]();
    for (const waiters of this.#waiters.values()) for (const end of waiters) end();
  }

  async #read(): Promise<void> {
    const before = [...this.#live.keys()];
    const records = await readLiveAgents(this.#options.sql);
    for (const { agent, revision, wanted } of records) {
      this.#take({ agent, revision, ...(wanted ? { wanted } : {}) });
    }
    const there = new Set(records.map(({ agent }) => agent.id));
    for (const id of before) if (!there.has(id)) this.#drop(id);
  }

  #hear(news: AgentNews): void {
    if ('removedId' in news) this.#drop(news.removedId);
    else this.#take(news);
  }

  #take(state: AgentState): void {
    const { agent, revision } = state;
    const known = this.#live.get(agent.id)?.revision ?? this.#ended.get(agent.id) ?? 0;
    if (revision <= known) return;
    if (isFinal(agent)) {
      this.#ended.set(agent.id, revision);
      this.#drop(agent.id);
    } else {
      this.#live.set(agent.id, state);
    }
    for (const listener of this.#listeners) listener(state);
  }

  #drop(id: string): void {
    const state = this.#live.get(id);
    this.#live.delete(id);
    if (state && !this.#ended.has(id)) this.#ended.set(id, state.revision);
    for (const end of this.#waiters.get(id) ?? []) end();
  }
}
