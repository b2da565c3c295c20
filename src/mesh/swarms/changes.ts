import { Fault } from '../../kit/errors.ts';
import { expire, type Step, type Swarm } from './swarm.ts';
import { readSwarm, saveSwarm, type SwarmSql } from './swarm-store.ts';

/** Says what becomes of a swarm; it may be asked again of a newer one. Throws a Fault to refuse. */
export type Change<Outcome> = (swarm: Swarm) => Step<Outcome>;

export interface ChangesOptions {
  readonly sql: SwarmSql;
  readonly now: () => number;
  /** Called once for every change that was written, in their order. */
  readonly onChange: (before: Swarm, after: Swarm) => void;
}

interface Waiting {
  readonly change: Change<unknown>;
  readonly resolve: (step: Step<unknown>) => void;
  readonly reject: (error: unknown) => void;
}

const batchMax = 64;
const triesMax = 20;

/**
 * Changes swarms in the database, one swarm's changes in a row: what waits for the same swarm is
 * written together, and what another replica wrote meanwhile is read again.
 */
export class Changes {
  readonly #options: ChangesOptions;
  readonly #lanes = new Map<string, Waiting[]>();
  readonly #running = new Set<Promise<void>>();

  constructor(options: ChangesOptions) {
    this.#options = options;
  }

  /** Resolves once the change is stored; rejects with `not_found`, or with what the change threw. */
  apply<Outcome>(swarmId: string, change: Change<Outcome>): Promise<Step<Outcome>> {
    return new Promise((resolve, reject) => {
      const lane = this.#lanes.get(swarmId);
      // The outcome of a change goes to whoever asked for it.
      const waiting = { change, resolve: resolve as Waiting['resolve'], reject };
      if (lane) lane.push(waiting);
      else this.#open(swarmId, [waiting]);
    });
  }

  /** Resolves when nothing is being written. */
  async settled(): Promise<void> {
    await Promise.all(this.#running);
  }

  #open(swarmId: string, lane: Waiting[]): void {
    this.#lanes.set(swarmId, lane);
    const run = this.#drain(swarmId, lane);
    this.#running.add(run);
    void run.finally(() => this.#running.delete(run));
  }

  async #drain(swarmId: string, lane: Waiting[]): Promise<void> {
    // So that whatever is asked in one turn of the event loop goes together.
    await Promise.resolve();
    while (lane.length > 0) {
      const batch = lane.splice(0, batchMax);
      try {
        await this.#write(swarmId, batch);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#lanes.delete(swarmId);
  }

  async #write(swarmId: string, batch: readonly Waiting[]): Promise<void> {
    const { sql, now, onChange } = this.#options;
    for (let tries = 0; tries < triesMax; tries += 1) {
      const before = await readSwarm(sql, swarmId);
      if (!before) throw noSwarm(swarmId);
      const { swarm: after, settle } = applyAll(expire(before, now()), batch);
      const isStored = after === before || (await saveSwarm(sql, before, after));
      if (!isStored) continue;
      if (after !== before) onChange(before, after);
      settle();
      return;
    }
    const message = 'others change the swarm at the same time: try again';
    throw new Fault('unavailable', message, { reason: 'swarm_busy', retryAfter: 1 });
  }
}

/** One change after the other; those who asked learn of it when `settle` is called. */
function applyAll(start: Swarm, batch: readonly Waiting[]) {
  let swarm = start;
  const settlers: (() => void)[] = [];
  for (const { change, resolve, reject } of batch) {
    try {
      const step = change(swarm);
      swarm = step.swarm;
      settlers.push(() => resolve(step));
    } catch (error) {
      settlers.push(() => reject(error));
    }
  }
  return { swarm, settle: () => settlers.forEach((settle) => settle()) };
}

/** No swarm has this id. */
export function noSwarm(swarmId: string): Fault {
  const detail = { swarmId };
  return new Fault('not_found', 'there is no such swarm', { reason: 'swarm_not_found', detail });
}
