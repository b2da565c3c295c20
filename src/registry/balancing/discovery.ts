import type { ConnectionStatus, ConnectionType, Protocol } from '../connections/connection.ts';
import type { EventSink } from '../events.ts';
import { fieldOf, type Balancer, type Chosen, type Field } from './balancer.ts';
import type { Candidate } from './candidate.ts';
import { strategyDefault, type Strategy } from './strategy.ts';
import { weightsOf, type Posting } from './posting.ts';
import { writeSummary } from './summary.ts';

export interface DiscoveryQuery {
  /** All of them are wanted. */
  readonly capabilities: readonly string[];
  readonly filters: {
    readonly status?: ConnectionStatus | undefined;
    readonly protocol?: Protocol | undefined;
    readonly type?: ConnectionType | undefined;
    /** Seconds. */
    readonly minUptime?: number | undefined;
  };
  /** Absent: everything in the order of registration. */
  readonly balancing?:
    | { readonly strategy?: Strategy | undefined; readonly key: string; readonly limit: number }
    | undefined;
}

export interface DiscoveryOptions {
  readonly balancer: Balancer;
  readonly events: EventSink;
}

const unbalancedMax = 1_000;

/** Finds connections that can do all that is asked for. */
export class Discovery {
  readonly #balancer: Balancer;
  readonly #events: EventSink;

  constructor({ balancer, events }: DiscoveryOptions) {
    this.#balancer = balancer;
    this.#events = events;
  }

  /** The answer as JSON in ASCII: most of it lies written already. */
  discover(query: DiscoveryQuery): string {
    this.#balancer.settle();
    const field = this.#fieldOf(query);
    const { nowMs } = this.#balancer;
    const { balancing } = query;
    const strategy = balancing ? (balancing.strategy ?? strategyDefault) : 'none';
    const { best, last } =
      balancing && strategy !== 'none'
        ? this.#balancer.choose(field, { strategy, key: balancing.key, limit: balancing.limit })
        : inOrder(field);
    this.#tell(query.capabilities, (best[0] ?? last[0])?.id, nowMs);
    const texts: string[] = [];
    for (const one of best) texts.push(writeSummary(one, strategy, nowMs));
    for (const one of last) texts.push(writeSummary(one, 'ejected', nowMs));
    const totalMatching = field.usable.candidates.length + field.ejected.length;
    return `{"connections":[${texts.join(',')}],"totalMatching":${totalMatching},"loadBalanced":${balancing !== undefined},"strategy":"${strategy}"}`;
  }

  #fieldOf({ capabilities, filters }: DiscoveryQuery): Field {
    const posting = this.#balancer.pools.smallest(capabilities);
    if (!posting || filters.status === 'disconnected') return emptyField;
    const fits = conditionOf(capabilities, filters, this.#balancer.nowMs);
    return filters.status === 'error' ? failedOf(posting, fits) : fieldOf(posting, fits);
  }

  #tell(capabilities: readonly string[], connectionId: string | undefined, nowMs: number): void {
    if (capabilities.length === 0) return;
    const timestamp = new Date(nowMs).toISOString();
    const type = 'capability-request';
    for (const capability of capabilities) {
      this.#events.tell(
        connectionId === undefined
          ? { type, capability, timestamp, outcome: 'none-found' }
          : { type, connectionId, capability, timestamp, outcome: 'discovered' },
      );
    }
  }
}

const emptyField: Field = {
  usable: {
    candidates: [],
    drawable: () => [],
    weights: () => ({ min: 0, max: 0, grownAtMs: 0 }),
    rotation: { next: () => [] },
  },
  ejected: [],
};

/** Undefined when being in the pool is all that is asked for. */
function conditionOf(
  capabilities: readonly string[],
  { status, protocol, type, minUptime }: DiscoveryQuery['filters'],
  nowMs: number,
): ((candidate: Candidate) => boolean) | undefined {
  const isPlain = !status && !protocol && !type && minUptime === undefined;
  if (isPlain && capabilities.length < 2) return undefined;
  const upBeforeMs = minUptime === undefined ? undefined : nowMs - minUptime * 1000;
  return ({ connection, names }) => {
    if (status && connection.status !== status) return false;
    if (protocol && connection.protocol !== protocol) return false;
    if (type && connection.type !== type) return false;
    if (upBeforeMs !== undefined && !((connection.health.upSinceMs ?? Infinity) <= upBeforeMs)) {
      return false;
    }
    for (const capability of capabilities) if (!names.has(capability)) return false;
    return true;
  };
}

function failedOf(
  { failed, rotation }: Posting,
  fits: ((candidate: Candidate) => boolean) | undefined,
): Field {
  const candidates = fits ? failed.filter(fits) : failed;
  const usable = {
    candidates,
    drawable: () => [...candidates],
    weights: () => weightsOf(candidates),
    rotation,
  };
  return { usable, ejected: [] };
}

function inOrder({ usable, ejected }: Field): Chosen {
  const best = usable.candidates.slice(0, unbalancedMax);
  return { best, last: ejected.slice(0, unbalancedMax - best.length) };
}
