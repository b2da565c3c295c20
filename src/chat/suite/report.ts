import type { Contract } from '../../kit/contract.ts';
import { endpointsOf, featuresOf } from './features.ts';
import type { Health } from './neighbours.ts';

export interface ReportOptions {
  readonly contract: Contract;
  readonly peers: readonly { readonly name: string; readonly url: string }[];
  /** What every health answer begins with. */
  readonly health: () => Health;
  /** The health of the others that answer, by name; at once. */
  readonly glance: () => Promise<ReadonlyMap<string, Health>>;
  /** Whether the database answers; at once. */
  readonly hasDatabase: () => Promise<boolean>;
}

/** The path that tells of all services. */
const statusEndpoint = '/api/cli/status';

/** Who of the suite calls chat, or lets people call it. */
const callers = ['workflow', 'mesh', 'studio'] as const;

/** Tells how chat is and what of the suite is there; an answer takes less than 50 ms. */
export class Report {
  readonly #options: ReportOptions;

  constructor(options: ReportOptions) {
    this.#options = options;
  }

  /** The answer to `GET /health`. */
  async health() {
    const { contract, peers } = this.#options;
    const { others, isStored, features } = await this.#look();
    const isUp = (name: string) => others.has(name);
    const isThere = ({ name }: { readonly name: string }) => name === contract.name || isUp(name);
    const { status, ...own } = this.#options.health();
    return {
      ...own,
      status: isStored && isUp('gateway') ? status : 'degraded',
      service: contract.name,
      timestamp: new Date().toISOString(),
      ecosystem: Object.fromEntries(peers.filter(isThere).map(({ name, url }) => [name, url])),
      voice: { enabled: true, status: voiceStatus(others.get('gateway')) },
      librechat: {
        enhanced: isUp('gateway'),
        kagent: isUp('mesh'),
        ossa: isUp('registry'),
        agentStudio: isUp('studio'),
      },
      consumers: Object.fromEntries(callers.map((name) => [name, isUp(name)])),
      rocketship: {
        enabled: features.length > 0,
        features: features.length,
        statusEndpoint,
      },
    };
  }

  /** The answer to `GET /api/info`. */
  async info() {
    const { contract } = this.#options;
    const { features } = await this.#look();
    return {
      name: contract.name,
      description: contract.description,
      version: contract.version,
      features: features.map(({ name }) => name),
      endpoints: endpointsOf(contract),
    };
  }

  /** What is there, and what can be done with it. */
  async #look() {
    const { contract, glance, hasDatabase } = this.#options;
    const [others, isStored] = await Promise.all([glance(), hasDatabase()]);
    const works = ({ needs }: { readonly needs?: string }) =>
      isStored && (needs === undefined || others.has(needs));
    return { others, isStored, features: featuresOf(contract).filter(works) };
  }
}

/** The grammar works alone; what it does not know takes a model. */
function voiceStatus(gateway: Health | undefined): string {
  return gateway?.status === 'healthy' ? 'text-commands' : 'degraded';
}
