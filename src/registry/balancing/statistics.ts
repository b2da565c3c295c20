import type { ConnectionStatus, Directory, Protocol } from '../connections/connection.ts';
import type { OverallFigures } from '../traffic/overall.ts';
import type { TrafficLedger } from '../traffic/ledger.ts';
import type { Balancer } from './balancer.ts';
import type { Posting } from './posting.ts';

export interface CapabilityFacts {
  readonly name: string;
  readonly description: string;
  /** Connections that are not disconnected and offer it. */
  readonly providers: number;
  readonly totalRequests: number;
  /** Milliseconds. */
  readonly averageLatency: number;
}

export interface CapabilityQuery {
  readonly prefix?: string | undefined;
  /** What its name or description holds, in any case. */
  readonly q?: string | undefined;
  readonly limit: number;
  readonly offset: number;
}

export interface CapabilityPage {
  readonly capabilities: readonly CapabilityFacts[];
  /** All that match, whatever the page. */
  readonly totalCapabilities: number;
}

export interface RegistryStatistics {
  readonly timestamp: string;
  readonly connections: Readonly<Record<ConnectionStatus, number>> & { readonly total: number };
  readonly protocols: Readonly<Record<Protocol, number>>;
  readonly capabilities: {
    readonly total: number;
    readonly mostUsed: readonly { readonly name: string; readonly requests: number }[];
  };
  readonly performance: OverallFigures;
}

export interface StatisticsOptions {
  readonly directory: Pick<Directory, 'all'>;
  readonly ledger: Pick<TrafficLedger, 'overall' | 'ofCapability'>;
  readonly balancer: Balancer;
}

const mostUsedMax = 10;

/** Counts what is there and what came to pass. */
export class Statistics {
  readonly #options: StatisticsOptions;

  constructor(options: StatisticsOptions) {
    this.#options = options;
  }

  /** Connections by status and by protocol, the disconnected ones that are kept included. */
  read(): RegistryStatistics {
    const { directory, ledger, balancer } = this.#options;
    const statuses = { active: 0, idle: 0, disconnected: 0, error: 0 };
    const protocols = { stdio: 0, http: 0, websocket: 0 };
    let total = 0;
    for (const { status, protocol } of directory.all()) {
      total += 1;
      statuses[status] += 1;
      protocols[protocol] += 1;
    }
    return {
      timestamp: new Date(balancer.nowMs).toISOString(),
      connections: { total, ...statuses },
      protocols,
      capabilities: { total: balancer.pools.capabilityCount, mostUsed: this.#mostUsed() },
      performance: ledger.overall(),
    };
  }

  /** What is offered now, by name. */
  capabilities({ prefix = '', q = '', limit, offset }: CapabilityQuery): CapabilityPage {
    const sought = q.toLowerCase();
    const found: { readonly name: string; readonly posting: Posting }[] = [];
    for (const [name, posting] of this.#options.balancer.pools.entries()) {
      if (!name.startsWith(prefix)) continue;
      if (sought === '' || isFound(name, posting, sought)) found.push({ name, posting });
    }
    found.sort((one, other) => (one.name < other.name ? -1 : 1));
    const page = found.slice(offset, offset + limit);
    return {
      capabilities: page.map(({ name, posting }) => this.#facts(name, posting)),
      totalCapabilities: found.length,
    };
  }

  #facts(name: string, posting: Posting): CapabilityFacts {
    const { totalRequests, averageLatency } = this.#options.ledger.ofCapability(name);
    return {
      name,
      description: descriptionOf(name, posting),
      providers: posting.size,
      totalRequests,
      averageLatency,
    };
  }

  /** Of what is offered now, as the list of capabilities has it. */
  #mostUsed(): { readonly name: string; readonly requests: number }[] {
    const { ledger, balancer } = this.#options;
    const used: { readonly name: string; readonly requests: number }[] = [];
    for (const [name] of balancer.pools.entries()) {
      const { totalRequests: requests } = ledger.ofCapability(name);
      if (requests > 0) used.push({ name, requests });
    }
    return used.toSorted((one, other) => other.requests - one.requests).slice(0, mostUsedMax);
  }
}

function isFound(name: string, posting: Posting, sought: string): boolean {
  return (
    name.toLowerCase().includes(sought) ||
    descriptionOf(name, posting).toLowerCase().includes(sought)
  );
}

/** The first one that a provider gives. */
function descriptionOf(name: string, { usable, ejected, failed }: Posting): string {
  for (const providers of [usable, ejected, failed]) {
    for (const { connection } of providers) {
      const { offer, declared } = connection;
      const told = offer?.tools.find((tool) => tool.name === name)?.description;
      const description = told ?? declared.find((one) => one.name === name)?.description;
      if (description !== undefined) return description;
    }
  }
  return '';
}
