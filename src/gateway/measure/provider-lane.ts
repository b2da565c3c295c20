import type { Provider, ProviderKey } from '../providers/provider.ts';
import { RateLimiter } from '../../kit/rate-limit.ts';

type ClosedBecause = 'circuit' | 'rate-limit';

interface KeyState {
  inFlight: number;
  /** Not accepted before, milliseconds of the clock. */
  refusedUntil: number;
  /** By the names of models: not to be used for them before. */
  readonly limitedUntil: Map<string, number>;
}

const bucket = 'requests';
const refusedMs = 60_000;

/** What a key may be used with; undefined for providers that take none. */
export interface Lane {
  readonly key: ProviderKey | undefined;
  readonly state: KeyState;
}

/** The way to one provider: its keys, each with its own limits, and the operator's limit over all. */
export class ProviderLane {
  readonly #keys: readonly Lane[];
  readonly #limiter: RateLimiter | undefined;
  readonly #random: () => number;

  constructor({ keys, requestsPerMinute }: Provider, random: () => number) {
    const keysOrNone = keys.length === 0 ? [undefined] : keys;
    this.#keys = keysOrNone.map((key) => ({
      key,
      state: { inFlight: 0, refusedUntil: 0, limitedUntil: new Map() },
    }));
    this.#random = random;
    if (requestsPerMinute !== undefined)
      this.#limiter = new RateLimiter({ perMinute: requestsPerMinute, burst: requestsPerMinute });
  }

  /** Milliseconds until some key may be used for the model and the limit has room; 0: now. */
  waitMs(model: string, now: number): number {
    let keyMs = Number.POSITIVE_INFINITY;
    for (const { state } of this.#keys) keyMs = Math.min(keyMs, closedUntil(state, model) - now);
    if (keyMs > 0) return keyMs;
    return this.#limiter?.waitMs(bucket) ?? 0;
  }

  /** Why it is not open for the model: every key was refused, or some limit is used up. */
  closedBecause(model: string, now: number): ClosedBecause {
    const { state } = this.#keys.reduce((best, lane) =>
      closedUntil(lane.state, model) < closedUntil(best.state, model) ? lane : best,
    );
    const until = closedUntil(state, model);
    return until > now && until === state.refusedUntil ? 'circuit' : 'rate-limit';
  }

  /** Takes one request of the limit and a key: the less busy one of two that are open for the model. */
  take(model: string, now: number): Lane {
    this.#limiter?.take(bucket);
    const lane = this.#choose(model, now);
    lane.state.inFlight += 1;
    return lane;
  }

  #choose(model: string, now: number): Lane {
    const [only] = this.#keys;
    if (!only) throw new RangeError('a lane has at least one way');
    if (this.#keys.length === 1) return only;
    const open = this.#keys.filter(({ state }) => closedUntil(state, model) <= now);
    const first = this.#pick(open) ?? only;
    const second = this.#pick(open) ?? only;
    return second.state.inFlight < first.state.inFlight ? second : first;
  }

  /** The provider limits what a key may ask of a model; most count each model by itself. */
  limit({ state }: Lane, model: string, until: number): void {
    const before = state.limitedUntil.get(model) ?? 0;
    state.limitedUntil.set(model, Math.max(before, until));
  }

  /** The provider did not accept a key. */
  refuse({ key, state }: Lane, now: number): void {
    key?.refused?.();
    // A key that can be renewed is tried again at once, with its new value.
    if (key?.refused) return;
    state.refusedUntil = now + refusedMs;
  }

  #pick(lanes: readonly Lane[]): Lane | undefined {
    return lanes.length <= 1 ? lanes[0] : lanes[Math.floor(this.#random() * lanes.length)];
  }
}

function closedUntil({ refusedUntil, limitedUntil }: KeyState, model: string): number {
  return Math.max(refusedUntil, limitedUntil.get(model) ?? 0);
}
