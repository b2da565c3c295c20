import { meshContract } from '../../mesh/contract.ts';
import type { CallerClients } from '../caller-clients.ts';
import type { Caller } from '../caller.ts';

/** An agent, as far as it is spoken of. */
export interface KnownAgent {
  readonly agentId: string;
  readonly name: string;
  readonly status: string;
  /** 0…1 */
  readonly load: number;
  readonly capabilities: readonly string[];
}

export interface AgentList {
  /** By id; with the number of all, which may be more. */
  list(caller: Caller): Promise<{ readonly agents: readonly KnownAgent[]; readonly total: number }>;
}

const pageSize = 100;
const agentsMax = 500;
const timeoutMs = 5_000;

/** The mesh's agents, as it tells them to the caller. */
export class MeshAgents implements AgentList {
  readonly #clients: CallerClients;

  constructor(clients: CallerClients) {
    this.#clients = clients;
  }

  async list(caller: Caller) {
    const mesh = this.#clients(meshContract, caller);
    const all: KnownAgent[] = [];
    let known = 0;
    for (let offset = 0; offset < agentsMax; offset += pageSize) {
      const query = { limit: pageSize, offset };
      const { agents, total } = await mesh.listAgents({ query }, { timeoutMs });
      all.push(...agents.map(toKnown));
      known = total;
      if (agents.length === 0 || all.length >= total) break;
    }
    return { agents: all, total: known };
  }
}

interface ListedAgent extends Omit<KnownAgent, 'name'> {
  readonly card?: { readonly name: string };
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** What its card calls it, else what its metadata do, else its id. */
function toKnown({ agentId, card, metadata, status, load, capabilities }: ListedAgent): KnownAgent {
  const called = metadata['name'];
  const name = card?.name ?? (typeof called === 'string' && called !== '' ? called : agentId);
  return { agentId, name, status, load, capabilities };
}
