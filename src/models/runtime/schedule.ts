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
  /** Waiting requests of one model; one that can start at once is never refused. */
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

  /** Fault `exhausted` when the job would have to wait and too many of its model wait already. */
  enqueue(job: Job): void {
    const { parallel, queueMax } = this.#options;
    const { key } = job.file;
    const ahead = this.#waiting.filter(({ file }) => file.key === key).length;
    if (ahead >= queueMax && !this.#canStart(key)) {
      const waitMs = (this.#averageMs * ahead) / parallel;
      const retryAfter = Math.min(60, Math.max(1, Math.ceil(waitMs / 1000)));
      throw new Fault('exhausted', 'too many requests wait for the local model', { retryAfter });
    }
    this.#waiting.push(job);
  }

  /** Takes the job off the queue; without effect when it does not wait. */
  withdraw(job: Job): void {
    const index = this.#waiting.indexOf(job);
    if (index >= 0) this.#waiting.splice(index, 1);
  }

  /** Takes the next job that can start now, and counts it on its lane. */
  next(): Start | undefined {
    const job = this.#waiting.find(({ file }) => this.#canStart(file.key));
    if (!job) return undefined;
    this.withdraw(job);
    const { key } = job.file;
    const known = this.#lanes.get(key);
    const evicted = known || this.#lanes.size < modelsMax ? undefined : this.#findIdle();
    if (evicted) this.close(evicted);
    const lane = known ?? { key, active: 0, loaded: undefined, idleTimer: undefined };
    lane.active++;
    this.#lanes.delete(key);
    this.#lanes.set(key, lane);
    return { job, evicted };
  }

  /** Counts a job off its lane, which is answered. `tookMs` feeds the estimate of the wait. */
  finish(key: ModelKey, tookMs: number): Lane | undefined {
    this.#averageMs += (tookMs - this.#averageMs) / 8;
    const lane = this.#lanes.get(key);
    if (lane) lane.active--;
    return lane;
  }

  /** Forgets a model that left the child; a later lane of the same model stays. */
  close(lane: Lane): void {
    clearTimeout(lane.idleTimer);
    if (this.#lanes.get(lane.key) === lane) this.#lanes.delete(lane.key);
  }

  /** Empties the queue. */
  drainWaiting(): Job[] {
    return this.#waiting.splice(0);
  }

  #canStart(key: ModelKey): boolean {
    const lane = this.#lanes.get(key);
    if (lane) return lane.active < this.#options.parallel;
    return this.#lanes.size < modelsMax || this.#findIdle() !== undefined;
  }

  #findIdle(): Lane | undefined {
    return this.lanes.find(({ active }) => active === 0);
  }
}

/** So many models stay in memory at most; another one takes the place of an idle one. */
const modelsMax = 4;
