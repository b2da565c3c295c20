import type { Client } from '../../kit/client.ts';
import { codes, Fault } from '../../kit/errors.ts';
import type { meshContract } from '../../mesh/contract.ts';
import { toStorableText } from '../../kit/storable-json.ts';

/** What reads the mesh's agents, with the rights of whoever it is made for. */
export type AgentReader = Pick<
  Client<typeof meshContract>,
  'getAgent' | 'discoverAgents' | 'listAgents'
>;

export type MeshAgent = Awaited<ReturnType<AgentReader['getAgent']>>;

/** An agent that answers to a name, and what it is asked to do. */
export interface FoundAgent {
  readonly agentId: string;
  readonly name: string;
  /** The capability by which it was found, or its only one. */
  readonly taskType: string;
}

/** The task of an agent that has no capability, or so many that none says what is wanted. */
const plainTaskType = 'orchestrate';

const idPattern = /^[A-Za-z0-9._:-]{1,128}$/;
const capabilityMax = 128;
const namesMax = 128;
const pageSize = 100;
/** Names are looked for among this many agents at most. */
const namedAgentsMax = 2_000;
const atOnce = 8;

/**
 * The agents that a request means, one for each entry: by its id, else by a capability, of which the
 * mesh's best that the request has not yet, else by its name. Throws `not_found` (`agent_not_found`) for the first that
 * nobody answers to, and `unavailable` when the mesh does not answer.
 */
export async function findAgents(
  reader: AgentReader,
  wanted: readonly string[],
): Promise<readonly FoundAgent[]> {
  try {
    return await new Search(reader).all(wanted);
  } catch (error) {
    throw toUnavailable(Fault.from(error));
  }
}

/** An agent by its id; `not_found` (`agent_not_found`). */
export async function findAgent(
  reader: Pick<AgentReader, 'getAgent'>,
  agentId: string,
): Promise<MeshAgent> {
  try {
    const agent = await byId(reader, agentId);
    if (agent) return agent;
  } catch (error) {
    throw toUnavailable(Fault.from(error));
  }
  throw agentNotFound(agentId);
}

class Search {
  readonly #reader: AgentReader;
  #named: Promise<readonly MeshAgent[]> | undefined;

  constructor(reader: AgentReader) {
    this.#reader = reader;
  }

  async all(wanted: readonly string[]): Promise<readonly FoundAgent[]> {
    const known = await this.#inOrder(wanted, (text) => byId(this.#reader, text));
    const taken = new Set(known.flatMap((agent) => (agent ? [agent.agentId] : [])));
    const found: FoundAgent[] = [];
    for (const [index, text] of wanted.entries()) {
      const agent = known[index];
      if (agent) found.push(toFound(agent));
      else found.push(await this.#otherwise(text, taken));
    }
    return found;
  }

  async #otherwise(text: string, taken: Set<string>): Promise<FoundAgent> {
    const able = await this.#able(text, taken);
    const found = able ?? (await this.#called(text, taken));
    if (!found) throw agentNotFound(text);
    taken.add(found.agentId);
    return found;
  }

  /** The mesh's best first; one that has a part already only where there is no other. */
  async #able(text: string, taken: ReadonlySet<string>): Promise<FoundAgent | undefined> {
    if (text.length > capabilityMax) return undefined;
    const body = { capabilities: [text], limit: taken.size + 1 };
    const { agents } = await this.#reader.discoverAgents({ query: {}, body });
    const best = agents.find(({ agentId }) => !taken.has(agentId)) ?? agents[0];
    if (!best) return undefined;
    const { agentId } = best;
    const agent = await byId(this.#reader, agentId);
    return { agentId, name: agent ? nameOf(agent) : agentId, taskType: text };
  }

  async #called(text: string, taken: ReadonlySet<string>): Promise<FoundAgent | undefined> {
    this.#named ??= this.#listed();
    const namesakes = (await this.#named).filter((agent) => nameOf(agent) === text);
    const free = namesakes.filter(({ agentId }) => !taken.has(agentId));
    const [best] = (free.length > 0 ? free : namesakes).toSorted(byReadiness);
    return best && toFound(best);
  }

  async #listed(): Promise<readonly MeshAgent[]> {
    const listed: MeshAgent[] = [];
    for (let offset = 0; offset < namedAgentsMax; offset += pageSize) {
      const { agents, total } = await this.#reader.listAgents({
        query: { limit: pageSize, offset },
      });
      listed.push(...agents);
      if (listed.length >= total || agents.length === 0) break;
    }
    return listed;
  }

  async #inOrder<T>(
    wanted: readonly string[],
    find: (text: string) => Promise<T>,
  ): Promise<readonly T[]> {
    const found: T[] = [];
    for (let start = 0; start < wanted.length; start += atOnce) {
      found.push(...(await Promise.all(wanted.slice(start, start + atOnce).map(find))));
    }
    return found;
  }
}

async function byId(
  reader: Pick<AgentReader, 'getAgent'>,
  agentId: string,
): Promise<MeshAgent | undefined> {
  if (!idPattern.test(agentId) || agentId === '.' || agentId === '..') return undefined;
  try {
    return await reader.getAgent({ params: { agentId } });
  } catch (error) {
    if (error instanceof Fault && error.code === 'not_found') return undefined;
    throw error;
  }
}

function toFound(agent: MeshAgent): FoundAgent {
  const [first, ...others] = agent.capabilities;
  const taskType = first !== undefined && others.length === 0 ? first : plainTaskType;
  return { agentId: agent.agentId, name: nameOf(agent), taskType };
}

/** What its card calls it, else what its metadata do, else its id. */
function nameOf({ agentId, card, metadata }: MeshAgent): string {
  const called = metadata['name'];
  const told = card?.name ?? (typeof called === 'string' ? called : '');
  const name = toStorableText(told.slice(0, namesMax)).trim();
  return name === '' ? agentId : name;
}

const readiness = ['active', 'busy', 'suspect', 'draining', 'offline'];

function byReadiness(one: MeshAgent, other: MeshAgent): number {
  const by = readiness.indexOf(one.status) - readiness.indexOf(other.status);
  return by === 0 ? one.load - other.load : by;
}

function toUnavailable(fault: Fault): Fault {
  const { code, message, retryAfter = 1 } = fault;
  if (!codes[code].retryable || code === 'exhausted') return fault;
  return new Fault('unavailable', message, {
    cause: fault,
    reason: 'mesh_unavailable',
    retryAfter,
  });
}

function agentNotFound(agent: string): Fault {
  return new Fault('not_found', 'there is no such agent', {
    reason: 'agent_not_found',
    detail: { agent },
  });
}
