import { createBatch, type Batch } from '../../kit/database/batch.ts';
import { Fault } from '../../kit/errors.ts';
import type { AgentRow, LastAgent, NewAgent } from './agent-row.ts';
import { upsertAgents, type AgentSql, type Registered } from './agent-store.ts';
import { despiteDeadlock } from './deadlock.ts';

interface Order {
  readonly agent: NewAgent;
  row: AgentRow | undefined;
}

export interface EnrolmentOptions {
  readonly sql: AgentSql;
  /** Told of what was stored, before those who asked for it. */
  readonly onStored: (rows: readonly AgentRow[]) => void;
}

/** Stores registrations, those that come together in one statement. */
export class Enrolment implements AsyncDisposable {
  readonly #options: EnrolmentOptions;
  readonly #batch: Batch<Order>;

  constructor(options: EnrolmentOptions) {
    this.#options = options;
    this.#batch = createBatch<Order>({
      flush: (orders) => this.#store(orders),
      maxItems: 500,
      maxDelayMs: 2,
      maxPending: 50_000,
    });
  }

  /** Resolves once it is stored; refuses with `conflict` when the id belongs to somebody else. */
  async enrol(agent: NewAgent): Promise<AgentRow> {
    const order: Order = { agent, row: undefined };
    await this.#batch.add(order);
    if (order.row) return order.row;
    throw agentIdTaken(agent.agentId);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#batch.close();
  }

  async #store(orders: readonly Order[]): Promise<void> {
    const last = lastByAgent(orders);
    const agents = [...last.values()];
    const stored = await despiteDeadlock(() => upsertAgents(this.#options.sql, agents));
    const byAgent = new Map(stored.map((one) => [one.agentId, one]));
    const rows = agents.flatMap((given) => {
      const { steps: _, ...agent } = given;
      const one = byAgent.get(agent.agentId);
      return one ? [toRow(agent, one)] : [];
    });
    this.#options.onStored(rows);
    const laterCounts = new Map<string, number>();
    for (const order of orders.toReversed()) {
      const { agentId, ownerId } = order.agent;
      const one = byAgent.get(agentId);
      if (!one || last.get(agentId)?.ownerId !== ownerId) continue;
      const later = laterCounts.get(agentId) ?? 0;
      // Whoever was replaced by a later one at once learns that from its epoch.
      order.row = toRow(order.agent, { ...one, epoch: one.epoch - later });
      laterCounts.set(agentId, later + 1);
    }
  }
}

/** The refusal of an id that another owner has. */
export function agentIdTaken(agentId: string): Fault {
  return new Fault('conflict', `the agent id ${agentId} belongs to somebody else`, {
    reason: 'agent_id_taken',
    detail: { agentId },
  });
}

/**
 * Of each id what its first owner asked for last, for a statement cannot store a row twice; keys that it
 * leaves undefined are those of the ones before.
 */
function lastByAgent(orders: readonly Order[]): Map<string, LastAgent> {
  const last = new Map<string, LastAgent>();
  for (const { agent } of orders) {
    const before = last.get(agent.agentId);
    if (before && before.ownerId !== agent.ownerId) continue;
    last.set(agent.agentId, {
      ...agent,
      publicKey: agent.publicKey ?? before?.publicKey,
      voteKey: agent.voteKey ?? before?.voteKey,
      cardKeys: agent.cardKeys ?? before?.cardKeys,
      steps: (before?.steps ?? 0) + 1,
    });
  }
  return last;
}

function toRow(agent: NewAgent, stored: Registered): AgentRow {
  const { atMs, card = null, ...said } = agent;
  return {
    ...said,
    ...stored,
    card,
    status: 'active',
    load: null,
    registeredAtMs: atMs,
    lastSeenMs: atMs,
  };
}
