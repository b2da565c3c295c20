import { Fault } from '../../kit/errors.ts';
import type { Job } from './job.ts';
import { Lanes, type Lane } from './lanes.ts';
import type { ModelFile } from './model-file.ts';
import type { ModelKey } from './protocol.ts';

export interface Start {
  readonly job: Job;
  /** Models that have to leave the child first, to make room. */
  readonly evicted: readonly Lane[];
}

export interface ScheduleOptions {
  readonly parallel: number;
  /** Waiting requests of one model; one that can start at once is never refused. */
  readonly queueMax: number;
  /** What all models in memory may take together. */
  readonly memoryBytes: number;
}

interface Waiting {
  readonly job: Job;
  /** How many younger requests went first because this one's model found no memory. */
  overtaken: number;
}

/**
 * Decides which request goes to the child when: up to `parallel` for each model, so that a busy
 * model does not hold up the others; among subjects the one that has the least in work on that
 * model, then the one whose last start is longest ago; within a subject the order of arrival.
 */
export class Schedule {
  readonly #options: ScheduleOptions;
  readonly #lanes: Lanes;
  /** In the order of arrival. */
  readonly #waiting: Waiting[] = [];
  readonly #lastStarts = new Map<string, number>();
  #starts = 0;
  #averageMs = 1000;

  constructor(options: ScheduleOptions) {
    this.#options = options;
    this.#lanes = new Lanes(options);
  }

  get lanes(): readonly Lane[] {
    return this.#lanes.all;
  }

  lane(key: ModelKey): Lane | undefined {
    return this.#lanes.find(key);
  }

  /**
   * Fault `exhausted` when the job would have to wait, too many of its model wait already, and no
   * other subject has more of them; else the newest of that subject is answered and refused
   * instead. Fault `invalid` (`insufficient_memory`) when its model can never fit.
   */
  enqueue(job: Job): Job | undefined {
    this.#lanes.checkFits(job.file);
    const { queueMax } = this.#options;
    const ahead = this.#waiting.filter((waiting) => waiting.job.file.key === job.file.key);
    const isFull = ahead.length >= queueMax && !this.#lanes.canStart(job.file);
    const displaced = isFull ? findDisplaced(ahead, job.subject) : undefined;
    if (isFull && !displaced) throw this.refusal(ahead.length);
    if (displaced) this.withdraw(displaced);
    this.#waiting.push({ job, overtaken: 0 });
    return displaced;
  }

  /** Fault `invalid` (`insufficient_memory`) when the model can never fit. */
  checkFits(file: ModelFile): void {
    this.#lanes.checkFits(file);
  }

  /** What a job is told for which there is no place in the queue. */
  refusal(ahead: number): Fault {
    const waitMs = (this.#averageMs * ahead) / this.#options.parallel;
    const retryAfter = Math.min(60, Math.max(1, Math.ceil(waitMs / 1000)));
    return new Fault('exhausted', 'too many requests wait for the local model', { retryAfter });
  }

  /** Takes the job off the queue; without effect when it does not wait. */
  withdraw(job: Job): void {
    const index = this.#waiting.findIndex((waiting) => waiting.job === job);
    if (index >= 0) this.#waiting.splice(index, 1);
  }

  /** Takes the next job that can start now, and counts it on its lane. */
  next(): Start | undefined {
    const chosen = this.#choose();
    if (!chosen) return undefined;
    this.#noteOvertaken(chosen);
    this.withdraw(chosen.job);
    const { job } = chosen;
    this.#lastStarts.set(job.subject, ++this.#starts);
    return { job, evicted: this.#lanes.admit(job) };
  }

  /** Counts a job off its lane, which is answered. `tookMs` feeds the estimate of the wait. */
  finish(job: Job, tookMs: number): Lane | undefined {
    this.#averageMs += (tookMs - this.#averageMs) / 8;
    const lane = this.#lanes.release(job);
    if (!this.#isKnown(job.subject)) this.#lastStarts.delete(job.subject);
    return lane;
  }

  /** Forgets a model that left the child; a later lane of the same model stays. */
  close(lane: Lane): void {
    this.#lanes.close(lane);
  }

  /** Puts jobs back that had started, before all others and whatever the bounds. */
  requeue(jobs: readonly Job[]): void {
    this.#waiting.unshift(...jobs.map((job) => ({ job, overtaken: 0 })));
  }

  /** Empties the queue. */
  drainWaiting(): Job[] {
    return this.#waiting.splice(0).map(({ job }) => job);
  }

  #choose(): Waiting | undefined {
    const starved = this.#waiting.find(({ overtaken }) => overtaken >= overtakenMax);
    const candidates = starved ? [starved] : this.#waiting;
    let best: Waiting | undefined;
    for (const one of candidates) {
      if (!this.#lanes.canStart(one.job.file)) continue;
      if (!best || this.#isBefore(one.job, best.job)) best = one;
    }
    return best;
  }

  /** Jobs of one subject never change their order, as neither figure tells them apart. */
  #isBefore(one: Job, other: Job): boolean {
    const difference = this.#lanes.activeOf(one) - this.#lanes.activeOf(other);
    if (difference !== 0) return difference < 0;
    return this.#lastStart(one.subject) < this.#lastStart(other.subject);
  }

  #lastStart(subject: string): number {
    return this.#lastStarts.get(subject) ?? 0;
  }

  #noteOvertaken(chosen: Waiting): void {
    for (const waiting of this.#waiting) {
      if (waiting === chosen) return;
      const lacksMemory = !this.#lanes.find(waiting.job.file.key);
      if (lacksMemory && !this.#lanes.canStart(waiting.job.file)) waiting.overtaken++;
    }
  }

  #isKnown(subject: string): boolean {
    if (this.#waiting.some(({ job }) => job.subject === subject)) return true;
    return this.#lanes.all.some(({ activeBySubject }) => activeBySubject.has(subject));
  }
}

/** From then on nothing starts before it: the models in the way get idle and make room. */
const overtakenMax = 16;

/** The newest job of the subject with the most, when that is two more than the newcomer has. */
function findDisplaced(ahead: readonly Waiting[], newcomer: string): Job | undefined {
  const counts = new Map<string, number>();
  for (const { job } of ahead) counts.set(job.subject, (counts.get(job.subject) ?? 0) + 1);
  const [largest] = [...counts].toSorted(([, a], [, b]) => b - a);
  if (!largest || largest[1] < (counts.get(newcomer) ?? 0) + 2) return undefined;
  return ahead.findLast(({ job }) => job.subject === largest[0])?.job;
}
