import type { Connection, ConnectionChange, Directory } from '../connections/connection.ts';
import type { TrafficLedger } from '../traffic/ledger.ts';
import type { Outcome } from '../traffic/traffic.ts';
import { Candidate } from './candidate.ts';
import { choose, type Choosing, type Pool } from './choice.ts';
import { strategyDefault, type Strategy } from './strategy.ts';
import { Ejection } from './ejection.ts';
import { Pools } from './pools.ts';
import { weightsOf, type Posting } from './posting.ts';
import { whyOf } from './reasons.ts';

export interface BalancerOptions {
  readonly directory: Pick<Directory, 'all' | 'onChange'>;
  readonly ledger: Pick<TrafficLedger, 'meterOf' | 'onEnd'>;
  /** Milliseconds since the epoch. */
  readonly now?: (() => number) | undefined;
  /** 0 (inclusive) to 1 (exclusive). */
  readonly random?: (() => number) | undefined;
}

/** How one of several connections is picked for a request. */
export interface Picking {
  readonly strategy?: Strategy | undefined;
  /** For `consistent-hash`. */
  readonly key?: string | undefined;
  /** A further condition, for those that were tried already for instance. */
  readonly accepts?: ((connection: Connection) => boolean) | undefined;
}

/** A connection and the reason why it and no other. */
export interface Picked {
  readonly connection: Connection;
  readonly why: string;
}

/** Those who were chosen, the best first. */
export interface Chosen {
  readonly best: readonly Candidate[];
  /** Outliers, who stand behind all others. */
  readonly last: readonly Candidate[];
}

/** Those among whom is chosen: in use first, then outliers, where there is nothing better. */
export interface Field {
  readonly usable: Pool;
  readonly ejected: readonly Candidate[];
}

/**
 * Knows what each connection offers and how it does, and chooses among them. An outlier is put out of
 * this replica's choice only.
 */
export class Balancer implements Disposable {
  readonly pools = new Pools();
  readonly #ledger: BalancerOptions['ledger'];
  readonly #now: () => number;
  readonly #random: () => number;
  readonly #candidates = new Map<string, Candidate>();
  readonly #ejection = new Ejection();
  readonly #outliers = new Set<Candidate>();
  readonly #stops: (() => void)[];
  #returnAtMs = Number.POSITIVE_INFINITY;

  /** Takes over all connections of the directory, and from then on every change. */
  constructor({ directory, ledger, now = Date.now, random = Math.random }: BalancerOptions) {
    this.#ledger = ledger;
    this.#now = now;
    this.#random = random;
    for (const connection of directory.all())
      this.#change({ before: undefined, after: connection });
    this.#stops = [
      directory.onChange((change) => this.#change(change)),
      ledger.onEnd((id, outcome) => this.#judge(id, outcome)),
    ];
  }

  get nowMs(): number {
    return this.#now();
  }

  /** Those that are not disconnected, in the order of their registration. */
  candidates(): Candidate[] {
    this.settle();
    const { usable, ejected, failed } = this.pools.all;
    return [...usable, ...ejected, ...failed];
  }

  /** Picks for one request; undefined when nobody fits. Those whose health is an error never do. */
  pick(capability: string, picking: Picking = {}): Picked | undefined {
    this.settle();
    const posting = this.pools.find(capability);
    if (!posting) return undefined;
    const { accepts, strategy = strategyDefault, key = '' } = picking;
    const fits = accepts && ((candidate: Candidate) => accepts(candidate.connection));
    const { best, last } = this.choose(fieldOf(posting, fits), { strategy, key, limit: 1 });
    const [chosen = last[0]] = best;
    if (!chosen) return undefined;
    const why = whyOf(chosen, best.length > 0 ? strategy : 'ejected', this.#now());
    return { connection: chosen.connection, why };
  }

  /** Chooses from a field. */
  choose(
    { usable, ejected }: Field,
    { strategy, key, limit }: Pick<Choosing, 'strategy' | 'key' | 'limit'>,
  ): Chosen {
    const random = this.#random;
    const best = choose(usable, { strategy, key, limit, nowMs: this.#now(), random });
    return { best, last: ejected.slice(0, limit - best.length) };
  }

  /** Lets outliers in again whose time is over. */
  settle(): void {
    const nowMs = this.#now();
    if (nowMs < this.#returnAtMs) return;
    this.#returnAtMs = Number.POSITIVE_INFINITY;
    for (const candidate of this.#outliers) {
      if (candidate.ejectedUntilMs <= nowMs) this.#readmit(candidate);
      else this.#returnAtMs = Math.min(this.#returnAtMs, candidate.ejectedUntilMs);
    }
  }

  [Symbol.dispose](): void {
    for (const stop of this.#stops.splice(0)) stop();
  }

  #change({ after }: ConnectionChange): void {
    const known = this.#candidates.get(after.id);
    if (after.status === 'disconnected') {
      if (known) this.#remove(known);
      return;
    }
    if (!known) {
      const candidate = new Candidate(after, this.#ledger.meterOf(after.id));
      this.#candidates.set(after.id, candidate);
      this.pools.place(candidate);
      return;
    }
    const { names, connection, weight } = known;
    const hasOtherNames = known.change(after);
    if (hasOtherNames) this.pools.remove(known, names);
    const isMoved = (connection.status === 'error') !== (after.status === 'error');
    if (hasOtherNames || isMoved || weight !== known.weight) this.pools.place(known);
  }

  #remove(candidate: Candidate): void {
    this.#candidates.delete(candidate.id);
    this.#outliers.delete(candidate);
    this.#ejection.forget(candidate.id);
    this.pools.remove(candidate);
  }

  #judge(id: string, outcome: Outcome): void {
    const candidate = this.#candidates.get(id);
    if (!candidate) return;
    const nowMs = this.#now();
    const lastMinute = () => candidate.meter.lastMinute(nowMs);
    const verdict = this.#ejection.judge(id, outcome, { nowMs, lastMinute });
    if (!verdict) return;
    candidate.ejectedUntilMs = verdict.untilMs;
    candidate.ejectionReason = verdict.reason;
    this.#outliers.add(candidate);
    this.#returnAtMs = Math.min(this.#returnAtMs, verdict.untilMs);
    this.pools.place(candidate);
  }

  #readmit(candidate: Candidate): void {
    this.#outliers.delete(candidate);
    candidate.ejectedUntilMs = 0;
    this.pools.place(candidate);
  }
}

/** Those of a pool that fit. */
export function fieldOf(posting: Posting, fits?: (candidate: Candidate) => boolean): Field {
  if (!fits) return { usable: posting.pool, ejected: posting.ejected };
  const candidates = posting.usable.filter(fits);
  return {
    usable: {
      candidates,
      drawable: () => [...candidates],
      weights: () => weightsOf(candidates),
      rotation: posting.rotation,
    },
    ejected: posting.ejected.filter(fits),
  };
}
