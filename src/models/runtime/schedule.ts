import { Fault } from '../../kit/errors.ts';
import type { Job } from './job.ts';
import type { LoadedModel, ModelKey } from './protocol.ts';

/** What the child holds, or is loading, for one model. */
export interface Lane {
  readonly key: ModelKey;
  /** Requests in the child. */
  active: number;
  loaded: LoadedModel | undefined;
  /** Runs while the lane has no request. */
  idleTimer: NodeJS.Timeout | undefined;
}

export interface Start {
  readonly job: Job;
  /** A model that has to leave the child first, to make room. */
  readonly evicted: Lane | undefined;
}

export interface ScheduleOptions {
  readonly parallel: number;
  readonly queueMax: number;
}

/**
 * Decides which request goes to the child when: in the order of arrival, up to `parallel` for each
 * model, so that a busy model does not hold up the others.
 */
export class Schedule {
  readonly #options: ScheduleOptions;
  readonly #waiting: Job[] = [];
  /** The longest unused lane comes first. */
  readonly #lanes = new Map<ModelKey, Lane>();
  #averageMs = 1000;

  constructor(options: ScheduleOptions) {
    this.#options = options;
  }

  get lanes(): readonly Lane[] {
    return [...this.#lanes.values()];
  }

  lane(key: ModelKey): Lane | undefined {
    return this.#lanes.get(key);
  }

  /** Fault `exhausted` when too many requests wait already. */
  enqueue(job: Job): void {
    const { parallel, queueMax } = this.#options;
    if (this.#waiting.length >= queueMax) {
      const waitMs = (this.#averageMs * this.#waiting.length) / parallel;
      const retryAfter = Math.min(60, Math.max(1, Math.ceil(waitMs / 1000)));
      throw new Fault('exhausted', 'too many requests wait for the local model', { retryAfter });
    }
    this.#waiting.push(job);
  }

  /** Whether the job was still waiting. */
  withdraw(job: Job): boolean {
    const index = this.#waiting.indexOf(job);
    if (index >= 0) this.#waiting.splice(index, 1);
    return index >= 0;
  }

  /** Takes the next job that can start now, and counts it on its lane. */
  next(): Start | undefined {
    for (const [index, job] of this.#waiting.entries()) {
      const place = this.#findPlace(job.file.key);
      if (!place) continue;
      this.#waiting.splice(index, 1);
      this.#lanes.delete(place.lane.key);
      this.#lanes.set(place.lane.key, place.lane);
      place.lane.active++;
      return { job, evicted: place.evicted };
    }
    return undefined;
  }

  /** Counts a job off its lane, which is answered. `tookMs` feeds the estimate of the wait. */
  finish(key: ModelKey, tookMs: number): Lane | undefined {
    this.#averageMs += (tookMs - this.#averageMs) / 8;
    const lane = this.#lanes.get(key);
    if (lane) lane.active--;
    return lane;
  }

  /** Forgets a model that left the child. */
  close(lane: Lane): void {
    clearTimeout(lane.idleTimer);
    this.#lanes.delete(lane.key);
  }

  /** Empties the queue. */
  drainWaiting(): Job[] {
    return this.#waiting.splice(0);
  }

  #findPlace(key: ModelKey): { lane: Lane; evicted: Lane | undefined } | undefined {
    const known = this.#lanes.get(key);
    if (known) return this.#hasRoom(known) ? { lane: known, evicted: undefined } : undefined;
    const lane: Lane = { key, active: 0, loaded: undefined, idleTimer: undefined };
    if (this.#lanes.size < modelsMax) return { lane, evicted: undefined };
    const evicted = this.lanes.find(({ active }) => active === 0);
    if (!evicted) return undefined;
    this.close(evicted);
    return { lane, evicted };
  }

  #hasRoom(lane: Lane): boolean {
    return lane.active < this.#options.parallel;
  }
}

/** So many models stay in memory at most; another one takes the place of an idle one. */
const modelsMax = 4;
