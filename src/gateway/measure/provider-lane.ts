import type { Provider, ProviderKey } from '../providers/provider.ts';
import { RateLimiter } from '../../kit/rate-limit.ts';

interface KeyState {
  inFlight: number;
  /** Not to be used before, milliseconds of the clock. */
  closedUntil: number;
  closedBecause: 'circuit' | 'rate-limit';
}

const bucket = 'requests';
const refusedMs = 60_000;
const limitedMsDefault = 1_000;

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
      state: { inFlight: 0, closedUntil: 0, closedBecause: 'rate-limit' },
    }));
    this.#random = random;
    if (requestsPerMinute !== undefined)
      this.#limiter = new RateLimiter({ perMinute: requestsPerMinute, burst: requestsPerMinute });
  }

  /** Milliseconds until some key may be used and the limit has room; 0: now. */
  waitMs(now: number): number {
    let keyMs = Number.POSITIVE_INFINITY;
    for (const { state } of this.#keys) keyMs = Math.min(keyMs, state.closedUntil - now);
    if (keyMs > 0) return keyMs;
    return this.#limiter?.waitMs(bucket) ?? 0;
  }

  /** Why it is not open: every key was refused, or some limit is used up. */
  closedBecause(now: number): KeyState['closedBecause'] {
    const soonest = this.#keys.reduce((best, lane) =>
      lane.state.closedUntil < best.state.closedUntil ? lane : best,
    );
    return soonest.state.closedUntil > now ? soonest.state.closedBecause : 'rate-limit';
  }

  /** Takes one request of the limit and a key: the less busy one of two that are open. */
  take(now: number): Lane {
    this.#limiter?.take(bucket);
    const lane = this.#choose(now);
    lane.state.inFlight += 1;
    return lane;
  }

  #choose(now: number): Lane {
    const [only] = this.#keys;
    if (!only) throw new RangeError('a lane has at least one way');
    if (this.#keys.length === 1) return only;
    const open = this.#keys.filter(({ state }) => state.closedUntil <= now);
    const first = this.#pick(open) ?? only;
    const second = this.#pick(open) ?? only;
    return second.state.inFlight < first.state.inFlight ? second : first;
  }

  /** The provider limits a key. */
  limit({ state }: Lane, now: number, retryAfterMs = limitedMsDefault): void {
    state.closedUntil = Math.max(state.closedUntil, now + retryAfterMs);
    state.closedBecause = 'rate-limit';
  }

  /** The provider did not accept a key. */
  refuse({ key, state }: Lane, now: number): void {
    key?.refused?.();
    // A key that can be renewed is tried again at once, with its new value.
    if (key?.refused) return;
    state.closedUntil = now + refusedMs;
    state.closedBecause = 'circuit';
  }

  #pick(lanes: readonly Lane[]): Lane | undefined {
    return lanes.length <= 1 ? lanes[0] : lanes[Math.floor(this.#random() * lanes.length)];
  }
}
