import type { FailureKind, UpstreamFailure } from '../dialects/failure.ts';
import { UpstreamError } from '../dialects/upstream-error.ts';
import {
  targetId,
  type Model,
  type Provider,
  type ProviderKey,
  type Target,
} from '../providers/provider.ts';
import { MovingAverage } from './average.ts';
import { Circuit } from './circuit.ts';
import { ProviderLane, type Lane } from './provider-lane.ts';
import { SlidingCount } from './sliding-count.ts';
import type { Standing, Standings } from './standing.ts';

/** One attempt at a target, until it is known how it went; exactly one of its ends is called. */
export interface Trip {
  /** What to show the provider. */
  readonly key: ProviderKey | undefined;
  readonly startedAt: number;
  /** The first piece of the answer came. */
  started(): void;
  /** The answer came to its end. */
  succeeded(outputTokens: number): void;
  failed(failure: UpstreamFailure): void;
  /** Given up without a verdict: the caller left, or another was faster. */
  forgotten(): void;
}

export interface StationOptions {
  /** Milliseconds that never go back. */
  readonly now?: () => number;
  /** 0 to 1. */
  readonly random?: () => number;
}

const minute = { steps: 60, stepMs: 1_000 };
const fiveMinutes = { steps: 60, stepMs: 5_000 };
const halfLifeMs = 30_000;
const limitedMsDefault = 1_000;

class Station {
  circuit = new Circuit();
  readonly requests = new SlidingCount(minute);
  readonly outcomes = new SlidingCount(fiveMinutes);
  readonly failures = new SlidingCount(fiveMinutes);
  readonly firstTokenMs = new MovingAverage(halfLifeMs);
  readonly tokensPerSecond = new MovingAverage(halfLifeMs);
  readonly latencyMs = new MovingAverage(halfLifeMs);
  inFlight = 0;
  lastFailure: FailureKind | undefined;
}

/** Kinds that say something of the request, not of the provider. */
const innocent = new Set<FailureKind>([
  'rejected',
  'too-long',
  'filtered',
  'oversized',
  'untranslatable',
]);

/** Measures every target from its real traffic, and says which of them may be asked. */
export class Stations implements Standings {
  readonly #now: () => number;
  readonly #random: () => number;
  readonly #stations = new Map<string, Station>();
  readonly #byModel = new WeakMap<Model, Station>();
  readonly #lanes = new WeakMap<Provider, ProviderLane>();

  constructor(options: StationOptions = {}) {
    this.#now = options.now ?? (() => performance.now());
    this.#random = options.random ?? Math.random;
  }

  of(target: Target): Standing {
    const now = this.#now();
    const station = this.#station(target);
    const lane = this.#lane(target.provider);
    const circuitMs = station.circuit.waitMs(now);
    const waitMs = Math.max(circuitMs, lane.waitMs(target.model.name, now));
    const outcomes = station.outcomes.total(now);
    return {
      inFlight: station.inFlight,
      firstTokenMs: station.firstTokenMs.value,
      tokensPerSecond: station.tokensPerSecond.value,
      latencyMs: station.latencyMs.value,
      availability: outcomes === 0 ? 1 : 1 - station.failures.total(now) / outcomes,
      recentAttempts: outcomes,
      requestsPerMinute: station.requests.total(now),
      circuit: station.circuit.state(now),
      waitMs,
      closedBecause:
        waitMs === 0 ? undefined : reasonOf(circuitMs, lane.closedBecause(target.model.name, now)),
      lastFailure: station.lastFailure,
    };
  }

  /** Forgets the failures of a provider whose settings changed. */
  renew(providerName: string): void {
    for (const [id, station] of this.#stations)
      if (id.startsWith(`${providerName}/`)) station.circuit = new Circuit();
  }

  /** Begins an attempt; throws UpstreamError where the target may not be asked now. */
  begin(target: Target): Trip {
    const now = this.#now();
    const station = this.#station(target);
    const lane = this.#lane(target.provider);
    this.#requireOpen(target, { station, lane, now });
    const taken = lane.take(target.model.name, now);
    station.circuit.begin(now);
    station.inFlight += 1;
    station.requests.add(now);
    return new OpenTrip({ station, lane, taken, model: target.model.name, now: this.#now });
  }

  #requireOpen(
    target: Target,
    at: { readonly station: Station; readonly lane: ProviderLane; readonly now: number },
  ): void {
    const circuitMs = at.station.circuit.waitMs(at.now);
    if (circuitMs > 0) {
      const message = `${targetId(target)} failed too often and is left alone for a while`;
      throw new UpstreamError({ kind: 'broken', message, retryAfterMs: circuitMs });
    }
    const { provider, model } = target;
    const waitMs = at.lane.waitMs(model.name, at.now);
    if (waitMs === 0) return;
    const isLimited = at.lane.closedBecause(model.name, at.now) === 'rate-limit';
    throw new UpstreamError({
      kind: isLimited ? 'limited' : 'refused',
      message: isLimited
        ? `the limit of ${provider.name} is used up`
        : `${provider.name} accepts none of the gateway's keys`,
      retryAfterMs: waitMs,
    });
  }

  /** By the model first: names take longer to put together than all the rest. */
  #station(target: Target): Station {
    const known = this.#byModel.get(target.model);
    if (known) return known;
    const id = targetId(target);
    const station = this.#stations.get(id) ?? new Station();
    this.#stations.set(id, station);
    this.#byModel.set(target.model, station);
    return station;
  }

  #lane(provider: Provider): ProviderLane {
    let lane = this.#lanes.get(provider);
    if (!lane) {
      lane = new ProviderLane(provider, this.#random);
      this.#lanes.set(provider, lane);
    }
    return lane;
  }
}

function reasonOf(circuitMs: number, laneReason: 'circuit' | 'rate-limit') {
  return circuitMs > 0 ? 'circuit' : laneReason;
}

interface TripParts {
  readonly station: Station;
  readonly lane: ProviderLane;
  readonly taken: Lane;
  readonly model: string;
  readonly now: () => number;
}

class OpenTrip implements Trip {
  readonly key: ProviderKey | undefined;
  readonly startedAt: number;
  readonly #parts: TripParts;
  #firstAt: number | undefined;
  #isOver = false;

  constructor(parts: TripParts) {
    this.#parts = parts;
    this.key = parts.taken.key;
    this.startedAt = parts.now();
  }

  started(): void {
    const { station, now } = this.#parts;
    this.#firstAt = now();
    station.firstTokenMs.add(this.#firstAt - this.startedAt, this.#firstAt);
  }

  succeeded(outputTokens: number): void {
    const { station, now } = this.#parts;
    const at = now();
    if (!this.#end()) return;
    station.circuit.succeed(at);
    station.outcomes.add(at);
    station.latencyMs.add(at - this.startedAt, at);
    const writingMs = at - (this.#firstAt ?? this.startedAt);
    if (outputTokens > 1 && writingMs > 0)
      station.tokensPerSecond.add((outputTokens * 1_000) / writingMs, at);
  }

  failed(failure: UpstreamFailure): void {
    const { station, lane, taken, model, now } = this.#parts;
    const at = now();
    if (!this.#end()) return;
    if (failure.kind === 'limited') {
      lane.limit(taken, model, at + (failure.retryAfterMs ?? limitedMsDefault));
      station.circuit.forget();
      return;
    }
    if (failure.kind === 'refused') lane.refuse(taken, at);
    if (innocent.has(failure.kind)) {
      station.circuit.succeed(at);
      return;
    }
    station.outcomes.add(at);
    station.failures.add(at);
    station.lastFailure = failure.kind;
    // A bad key is no reason to leave the others alone.
    if (failure.kind === 'refused') station.circuit.forget();
    else station.circuit.fail(at);
  }

  forgotten(): void {
    if (this.#end()) this.#parts.station.circuit.forget();
  }

  #end(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#parts.station.inFlight -= 1;
    this.#parts.taken.state.inFlight -= 1;
    return true;
  }
}
