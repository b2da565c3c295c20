import { LRUCache } from 'lru-cache';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '../../kit/client.ts';
import { Fault } from '../../kit/errors.ts';
import type { meshContract } from '../../mesh/contract.ts';
import { subjectOf } from './credentials.ts';

/** What the mesh knows of agents. */
export interface Presence {
  /** Which registration of the agent holds now; 0 for none, or when the mesh does not answer. */
  epoch(agentId: string): Promise<number>;
  /** Resolves when the agent has registered after that epoch; rejects with the signal alone. */
  untilRegistered(agentId: string, after: number, signal: AbortSignal): Promise<void>;
  /** Undefined when it never beat, or the mesh does not answer. A second old at most. */
  lastHeartbeatMs(agentId: string): Promise<number | undefined>;
  /** Those of the agents that the mesh has not heard for long; none when it does not answer. */
  silent(agentIds: ReadonlySet<string>): Promise<readonly string[]>;
}

type Mesh = Pick<Client<typeof meshContract>, 'getAgent' | 'listAgents'>;

const quick = { trace: 'none', timeoutMs: 2_000 } as const;
const cachedMs = 1_000;
/** Close together at first, for a spawn is waited for. */
const pauseMs = 20;
const latePauseMs = 200;
const lateAfter = 150;
const pageMax = 100;

/** Asks the mesh itself. */
export class MeshPresence implements Presence {
  readonly #mesh: Mesh;
  readonly #beats = new LRUCache<string, Promise<number | undefined>>({
    max: 1_000,
    ttl: cachedMs,
  });

  constructor(mesh: Mesh) {
    this.#mesh = mesh;
  }

  async epoch(agentId: string): Promise<number> {
    return (await this.#find(agentId))?.epoch ?? 0;
  }

  async untilRegistered(agentId: string, after: number, signal: AbortSignal): Promise<void> {
    for (let attempt = 0; ; attempt += 1) {
      const epoch = await this.epoch(agentId);
      if (epoch !== 0 && epoch !== after) return;
      await sleep(attempt < lateAfter ? pauseMs : latePauseMs, undefined, { signal });
    }
  }

  lastHeartbeatMs(agentId: string): Promise<number | undefined> {
    const known = this.#beats.get(agentId);
    if (known) return known;
    const asked = this.#find(agentId).then((found) => found && Date.parse(found.lastSeen));
    this.#beats.set(agentId, asked);
    return asked;
  }

  async silent(agentIds: ReadonlySet<string>): Promise<readonly string[]> {
    const found: string[] = [];
    for (let offset = 0; ; offset += pageMax) {
      const query = { status: 'offline', limit: pageMax, offset } as const;
      const { agents, total } = await this.#mesh
        .listAgents({ query }, quick)
        .catch(() => ({ agents: [], total: 0 }));
      found.push(...agents.map((one) => one.agentId).filter((id) => agentIds.has(id)));
      if (offset + pageMax >= total) return found;
    }
  }

  /** What stands under the agent's id, unless somebody else registered it. */
  async #find(agentId: string) {
    try {
      const found = await this.#mesh.getAgent({ params: { agentId } }, quick);
      return found.ownerId === subjectOf(agentId) ? found : undefined;
    } catch (error) {
      // Its answer may come when it is asked again.
      if (error instanceof Fault) return undefined;
      throw error;
    }
  }
}
