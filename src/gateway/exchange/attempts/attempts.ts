import type { Cancellation } from '../../../kit/cancellation.ts';
import type { UpstreamFailure } from '../../dialects/failure.ts';
import { UpstreamError } from '../../dialects/upstream-error.ts';
import type { Stations, Trip } from '../../measure/stations.ts';
import type { Target } from '../../providers/provider.ts';
import type { Candidate } from '../../routing/plan.ts';
import { conclude, type FailedAttempt } from './conclusion.ts';
import { Race } from './race.ts';

/** How targets are asked. */
export interface Quest<T> {
  /** Asks a target once; rejects with UpstreamError where it fails. */
  readonly ask: (target: Target, trip: Trip, cancellation: Cancellation) => Promise<T>;
  /** Given an answer that came when another was there already. */
  readonly onSurplus?: (surplus: Won<T>) => void;
}

export interface AttemptOptions {
  readonly cancellation: Cancellation;
  /** Milliseconds of `performance.now()` after which nothing is begun any more. */
  readonly deadlineAt: number;
  /** Called for every attempt that failed. */
  readonly onFailure: (attempt: FailedAttempt) => void;
  /** Who is asked, while there is time, when all candidates have failed and none may be waited for. */
  readonly lastResorts?: (() => readonly Candidate[]) | undefined;
}

/** What won, and what it took to get there. */
export interface Won<T> {
  readonly value: T;
  readonly target: Target;
  readonly trip: Trip;
}

export interface Patience {
  /** Starts the next candidate when one has not begun to answer by then; undefined: never. */
  readonly hedgeAfterMs: number | undefined;
}

/** How often one target is asked for one request. */
const roundsMax = 3;
const waitMsMax = 10_000;
const backoffMsFirst = 100;

const hopeless = new Set<UpstreamFailure['kind']>(['rejected', 'filtered']);
/** Kinds after which the same target may answer the same request. */
const passing = new Set<UpstreamFailure['kind']>(['limited', 'broken', 'unreachable', 'truncated']);

/**
 * Asks candidates in their order until one answers. What the provider finds wrong with the request
 * ends it at once; any other failure goes on to the next candidate, and when all have failed, after
 * the wait that was asked for or a backoff, to those whose failure may pass, three times at most and
 * within the deadline; then to the last resorts.
 */
export class Attempts {
  readonly #stations: Stations;
  readonly #patience: Patience;

  constructor(stations: Stations, patience: Patience) {
    this.#stations = stations;
    this.#patience = patience;
  }

  /** Rejects with the Fault that sums up what went wrong. */
  async run<T>(
    candidates: readonly Candidate[],
    options: AttemptOptions,
    quest: Quest<T>,
  ): Promise<Won<T>> {
    const [first] = candidates;
    if (this.#patience.hedgeAfterMs !== undefined || !first) {
      return this.#runOn(new Queue(candidates), options, quest);
    }
    const { target } = first;
    let trip: Trip | undefined;
    try {
      // Nearly always that is all, and nobody has to queue.
      trip = this.#stations.begin(target);
      return { value: await quest.ask(target, trip, options.cancellation), target, trip };
    } catch (error) {
      const failed = this.#failed(error, { target, trip }, options);
      const queue = new Queue(candidates);
      queue.take();
      queue.fail(failed, this.#isOpen(failed));
      return this.#runOn(queue, options, quest);
    }
  }

  async #runOn<T>(queue: Queue, options: AttemptOptions, quest: Quest<T>): Promise<Won<T>> {
    let { lastResorts } = options;
    for (;;) {
      const waitMs = queue.waitMs();
      if (waitMs === undefined || performance.now() + waitMs > options.deadlineAt) {
        const more = performance.now() > options.deadlineAt ? [] : (lastResorts?.() ?? []);
        if (more.length === 0) throw conclude(queue.failures);
        lastResorts = undefined;
        queue.add(more);
        continue;
      }
      // Timers may be a millisecond early.
      if (waitMs > 0) await pause(Math.ceil(waitMs) + 2, options.cancellation);
      options.cancellation.throwIfCancelled();
      const won = await this.#race(queue, options, quest);
      if (won) return won;
    }
  }

  /** The next candidate, and with patience at its end the one behind it too; undefined: all failed. */
  async #race<T>(
    queue: Queue,
    options: AttemptOptions,
    quest: Quest<T>,
  ): Promise<Won<T> | undefined> {
    const first = queue.take();
    const { hedgeAfterMs } = this.#patience;
    const askQueued = async (target: Target, cancellation: Cancellation) => {
      const result = await this.#askOne(target, { ...options, cancellation }, quest);
      if (!('failure' in result)) return result;
      queue.fail(result, this.#isOpen(result));
      return undefined;
    };
    const { cancellation } = options;
    if (hedgeAfterMs === undefined || !queue.hasFresh()) return askQueued(first, cancellation);
    const race = new Race<Won<T>>(cancellation, (won) => {
      won.trip.forgotten();
      quest.onSurplus?.(won);
    });
    race.start((own) => askQueued(first, own));
    if (await race.goesOnFor(hedgeAfterMs)) {
      const second = queue.take();
      race.start((own) => askQueued(second, own));
    }
    return race.result;
  }

  /** Whether it can be asked again at once, with another of its keys or the same one renewed. */
  #isOpen({ target, failure: { kind } }: FailedAttempt): boolean {
    const isOfKey = kind === 'refused' || kind === 'limited';
    return isOfKey && this.#stations.of(target).waitMs === 0;
  }

  /** How one target did; rejects where nobody else is to be asked. */
  async #askOne<T>(
    target: Target,
    options: AttemptOptions,
    quest: Quest<T>,
  ): Promise<Won<T> | FailedAttempt> {
    const { cancellation } = options;
    let trip: Trip | undefined;
    try {
      trip = this.#stations.begin(target);
      return { value: await quest.ask(target, trip, cancellation), target, trip };
    } catch (error) {
      return this.#failed(error, { target, trip }, options);
    }
  }

  /** Notes an attempt that failed; throws where nobody else is to be asked. */
  #failed(
    error: unknown,
    { target, trip }: { readonly target: Target; readonly trip: Trip | undefined },
    { cancellation, onFailure }: AttemptOptions,
  ): FailedAttempt {
    if (cancellation.isCancelled || !(error instanceof UpstreamError)) {
      trip?.forgotten();
      throw cancellation.reason ?? error;
    }
    const { failure } = error;
    trip?.failed(failure);
    const attempt = { target, failure };
    onFailure(attempt);
    if (hopeless.has(failure.kind)) throw conclude([attempt]);
    return attempt;
  }
}

interface Place {
  readonly target: Target;
  rounds: number;
  /** Not to be asked before, milliseconds of `performance.now()`. */
  readyAt: number;
  isOut: boolean;
}

/** Who is asked next. */
class Queue {
  readonly failures: FailedAttempt[] = [];
  readonly #places: Place[] = [];

  constructor(candidates: readonly Candidate[]) {
    this.add(candidates);
  }

  add(candidates: readonly Candidate[]): void {
    for (const { target } of candidates) {
      this.#places.push({ target, rounds: 0, readyAt: 0, isOut: false });
    }
  }

  /** Milliseconds until somebody can be asked; undefined: nobody can. */
  waitMs(): number | undefined {
    const next = this.#next();
    if (!next) return undefined;
    const waitMs = Math.max(0, next.readyAt - performance.now());
    return waitMs > waitMsMax ? undefined : waitMs;
  }

  take(): Target {
    const next = this.#next();
    if (!next) throw new RangeError('nobody is left to be asked');
    next.rounds += 1;
    return next.target;
  }

  /** Whether somebody has not been asked yet. */
  hasFresh(): boolean {
    return this.#places.some(({ rounds }) => rounds === 0);
  }

  /** `isOpen`: the target may be asked again at once. */
  fail(attempt: FailedAttempt, isOpen: boolean): void {
    this.failures.push(attempt);
    const place = this.#places.find(({ target }) => target === attempt.target);
    if (!place) return;
    const { kind, retryAfterMs } = attempt.failure;
    const roundsLeft = Math.max(roundsMax, attempt.target.provider.keys.length) - place.rounds;
    place.isOut = roundsLeft <= 0 || !(isOpen || passing.has(kind));
    // Full jitter, so that many who failed together do not come back together.
    const backoffMs = backoffMsFirst * 2 ** place.rounds * (0.5 + Math.random() / 2);
    place.readyAt = performance.now() + (isOpen ? 0 : (retryAfterMs ?? backoffMs));
    // A model with less room than the one that had too little need not be asked.
    if (kind === 'too-long') this.#leaveOutSmaller(attempt.target);
  }

  #leaveOutSmaller({ model }: Target): void {
    for (const place of this.#places) {
      if (place.target.model.contextWindow <= model.contextWindow) place.isOut = true;
    }
  }

  /** Whoever was asked least, then whoever is ready first, then the order of the plan. */
  #next(): Place | undefined {
    let best: Place | undefined;
    for (const place of this.#places) {
      if (place.isOut) continue;
      if (!best || isBefore(place, best)) best = place;
    }
    return best;
  }
}

function isBefore(one: Place, other: Place): boolean {
  if ((one.rounds === 0) !== (other.rounds === 0)) return one.rounds === 0;
  return one.rounds > 0 && one.readyAt < other.readyAt;
}

/** Waits; rejects as soon as nobody else does. */
async function pause(ms: number, cancellation: Cancellation): Promise<void> {
  await new Promise<void>((resolve) => {
    const done = () => {
      clearTimeout(timer);
      cancellation.offCancel(done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    cancellation.onCancel(done);
  });
  cancellation.throwIfCancelled();
}
