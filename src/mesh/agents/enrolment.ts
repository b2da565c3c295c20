import { createBatch, type Batch } from '../../kit/database/batch.ts';
import { Fault } from '../../kit/errors.ts';
import type { AgentRow, NewAgent } from './agent-row.ts';
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
    const newest = newestByAgent(orders);
    const agents = [...newest.values()];
    const stored = await despiteDeadlock(() => upsertAgents(this.#options.sql, agents));
    const rows = new Map<string, AgentRow>();
    for (const one of stored) {
      const agent = newest.get(one.agentId);
      if (agent) rows.set(one.agentId, toRow(agent, one));
    }
    this.#options.onStored([...rows.values()]);
    for (const order of orders) {
      const row = rows.get(order.agent.agentId);
      if (row?.ownerId === order.agent.ownerId) order.row = row;
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

/** Of each id what its first owner asked for last: a statement cannot store a row twice. */
function newestByAgent(orders: readonly Order[]): Map<string, NewAgent> {
  const newest = new Map<string, NewAgent>();
  for (const { agent } of orders) {
    const before = newest.get(agent.agentId);
    if (!before || before.ownerId === agent.ownerId) newest.set(agent.agentId, agent);
  }
  return newest;
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
