import type { Bus, Subscription, Topic } from '../../kit/bus/bus.ts';
import type { Log } from '../../kit/log.ts';
import type { AgentRow, AgentState, Removal } from './agent-row.ts';
import { readAgents, readPage, type AgentSql } from './agent-store.ts';
import type { Directory } from './directory.ts';

/** Where replicas tell each other of their agents. */
export const agentsTopic = 'mesh.agents';

/** What a replica has written, for the others to take over. */
export interface AgentNews {
  readonly rows?: readonly AgentRow[];
  readonly states?: readonly AgentState[];
  readonly removals?: readonly Removal[];
}

export interface ReplicationOptions {
  readonly sql: AgentSql;
  readonly bus: Bus;
  readonly directory: Directory;
  readonly log: Log;
}

/** Well below what an event may hold. */
const eventLengthMax = 128 * 1024;
/** Little: who has missed more reads the table again. */
const retention = { retainCount: 500, retainSeconds: 300 };

/**
 * Keeps the directory like that of every other replica: it begins with what the table holds, takes
 * over what others tell, and tells again, from the table, what the bus had not taken.
 */
export class Replication implements AsyncDisposable {
  readonly #options: ReplicationOptions;
  readonly #topic: Topic<AgentNews>;
  readonly #untold = new Set<string>();
  readonly #untoldRemovals = new Map<string, Removal>();
  #subscription: Subscription | undefined;
  #telling: Promise<void> = Promise.resolve();

  constructor(options: ReplicationOptions) {
    this.#options = options;
    this.#topic = options.bus.topic<AgentNews>(agentsTopic, retention);
  }

  /** Resolves when the directory holds what the table did. */
  async start(): Promise<void> {
    const { log } = this.#options;
    // First, so that nothing lies between what is read and what is heard.
    this.#subscription = await this.#topic.subscribe(({ data }) => this.#takeOver(data), {
      after: await this.#topic.lastSeq(),
      onGap: () => {
        this.#reload().catch((err: unknown) => log.error({ err }, 'agents could not be reread'));
      },
    });
    await this.#reload();
  }

  /** Takes news over here and tells the others; what they missed is told by the next `catchUp`. */
  tell(news: AgentNews): void {
    this.#takeOver(news);
    for (const event of split(news)) {
      this.#topic.publish(event).catch((err: unknown) => {
        this.#options.log.warn({ err }, 'other replicas could not be told of agents');
        this.#remember(event);
      });
    }
  }

  /** Tells what could not be told; one at a time. */
  catchUp(): Promise<void> {
    if (this.#untold.size === 0 && this.#untoldRemovals.size === 0) return this.#telling;
    this.#telling = this.#telling.then(() => this.#tellAgain());
    return this.#telling;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#subscription?.close();
    await this.#telling;
  }

  async #tellAgain(): Promise<void> {
    const ids = [...this.#untold].slice(0, 500);
    const removals = [...this.#untoldRemovals.values()].slice(0, 500);
    try {
      const rows = ids.length > 0 ? await readAgents(this.#options.sql, ids) : [];
      for (const event of split({ rows, removals })) await this.#topic.publish(event);
      for (const id of ids) this.#untold.delete(id);
      for (const { agentId } of removals) this.#untoldRemovals.delete(agentId);
    } catch (err) {
      this.#options.log.debug({ err }, 'other replicas still cannot be told of agents');
    }
  }

  #remember({ rows = [], states = [], removals = [] }: AgentNews): void {
    for (const { agentId } of [...rows, ...states]) this.#untold.add(agentId);
    for (const removal of removals) this.#untoldRemovals.set(removal.agentId, removal);
  }

  #takeOver({ rows = [], states = [], removals = [] }: AgentNews): void {
    const { directory } = this.#options;
    for (const row of rows) directory.put(row);
    for (const state of states) directory.apply(state);
    for (const removal of removals) directory.remove(removal);
  }

  /** Those that are in memory and not in the table have gone unheard. */
  async #reload(): Promise<void> {
    const { sql, directory } = this.#options;
    const known = new Map([...directory.all()].map(({ agentId, revision }) => [agentId, revision]));
    let afterId = '';
    for (;;) {
      const rows = await readPage(sql, afterId);
      const last = rows.at(-1);
      if (!last) break;
      for (const row of rows) {
        directory.put(row);
        known.delete(row.agentId);
      }
      afterId = last.agentId;
    }
    for (const [agentId, revision] of known) {
      if (directory.find(agentId)?.revision === revision) directory.remove({ agentId, revision });
    }
  }
}

/** The same news in events that the bus takes. */
function split(news: AgentNews): AgentNews[] {
  const events: AgentNews[] = [];
  for (const rows of chunks(news.rows ?? [])) events.push({ rows });
  for (const states of chunks(news.states ?? [])) events.push({ states });
  for (const removals of chunks(news.removals ?? [])) events.push({ removals });
  return events;
}

function chunks<T>(items: readonly T[]): T[][] {
  const found: T[][] = [];
  let length = eventLengthMax;
  for (const item of items) {
    const own = JSON.stringify(item).length;
    if (length + own > eventLengthMax) {
      found.push([]);
      length = 0;
    }
    length += own;
    found.at(-1)?.push(item);
  }
  return found;
}
