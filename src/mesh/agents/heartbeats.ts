import { createBatch, type Batch } from '../../kit/database/batch.ts';
import type { AgentState, Beat } from './agent-row.ts';
import { noteBeats, type AgentSql } from './agent-store.ts';
import { despiteDeadlock } from './deadlock.ts';

interface Order {
  readonly beat: Beat;
  state: AgentState | undefined;
}

export interface HeartbeatsOptions {
  readonly sql: AgentSql;
  /** Told of what was stored, before those who beat. */
  readonly onStored: (states: readonly AgentState[]) => void;
}

/** Stores signs of life, those that come together in one statement. */
export class Heartbeats implements AsyncDisposable {
  readonly #options: HeartbeatsOptions;
  readonly #batch: Batch<Order>;

  constructor(options: HeartbeatsOptions) {
    this.#options = options;
    this.#batch = createBatch<Order>({
      flush: (orders) => this.#store(orders),
      maxItems: 1_000,
      maxDelayMs: 20,
      maxPending: 50_000,
    });
  }

  /** The agent's state once the beat is stored; undefined for one that is offline or gone. */
  async beat(beat: Beat): Promise<AgentState | undefined> {
    const order: Order = { beat, state: undefined };
    await this.#batch.add(order);
    return order.state;
  }

  /** Stores what has come so far. */
  flush(): Promise<void> {
    return this.#batch.flush();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#batch.close();
  }

  async #store(orders: readonly Order[]): Promise<void> {
    const beats = [...mergeBeats(orders).values()];
    const states = await despiteDeadlock(() => noteBeats(this.#options.sql, beats));
    this.#options.onStored(states);
    const byAgent = new Map(states.map((state) => [state.agentId, state]));
    for (const order of orders) order.state = byAgent.get(order.beat.agentId);
  }
}

/** What the later beats of an agent leave open the earlier ones say. */
function mergeBeats(orders: readonly Order[]): Map<string, Beat> {
  const merged = new Map<string, Beat>();
  for (const { beat } of orders) {
    const before = merged.get(beat.agentId);
    merged.set(beat.agentId, {
      ...beat,
      load: beat.load ?? before?.load,
      status: beat.status ?? before?.status,
    });
  }
  return merged;
}
