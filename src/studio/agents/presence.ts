import { LRUCache } from 'lru-cache';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bus, Topic } from '../../kit/bus/bus.ts';
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
/** Where nothing was told: the bus may have been away. */
const pauseMs = 200;
const pageMax = 100;

/** Where the mesh tells what happens on it, as its stream of activity does. */
const activityTopic = 'mesh.activity';

/** What is needed of an event of that topic. */
interface MeshEvent {
  readonly type: string;
  readonly agentId: string;
}

/** Asks the mesh itself; when to ask is told by what happens there. */
export class MeshPresence implements Presence {
  readonly #mesh: Mesh;
  readonly #activity: Topic<MeshEvent>;
  readonly #beats = new LRUCache<string, Promise<number | undefined>>({
    max: 1_000,
    ttl: cachedMs,
  });

  constructor(mesh: Mesh, bus: Bus) {
    this.#mesh = mesh;
    this.#activity = bus.topic<MeshEvent>(activityTopic);
  }

  async epoch(agentId: string): Promise<number> {
    return (await this.#find(agentId))?.epoch ?? 0;
  }

  async untilRegistered(agentId: string, after: number, signal: AbortSignal): Promise<void> {
    let wake: (() => void) | undefined;
    // Not waited for: what is told before it holds is found out after the pause.
    const listening = this.#activity.subscribe(({ data }) => {
      if (data.agentId === agentId && data.type === 'agent-registered') wake?.();
    });
    try {
      for (;;) {
        const told = new Promise<void>((resolve) => (wake = resolve));
        const epoch = await this.epoch(agentId);
        if (epoch !== 0 && epoch !== after) return;
        await firstOf(told, signal);
      }
    } finally {
      void listening.then((subscription) => subscription.close()).catch(() => {});
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

/** Resolves when it does, or after the pause; rejects with the signal. */
async function firstOf(told: Promise<void>, signal: AbortSignal): Promise<void> {
  const over = new AbortController();
  const pause = sleep(pauseMs, undefined, { signal: AbortSignal.any([signal, over.signal]) });
  await Promise.race([told, pause]).finally(() => over.abort());
}
