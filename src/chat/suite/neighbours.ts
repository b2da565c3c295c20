import { createClient, type Client } from '../../kit/client.ts';
import { healthRoute, type Contract } from '../../kit/contract.ts';
import { plainEnvelope } from '../../kit/envelope.ts';
import type { Tracer } from '../../kit/trace/trace.ts';
import { glanceAt, Probe } from './probe.ts';

/** What a service answers when it is asked how it is. */
export interface Health {
  readonly status: string;
  readonly version: string;
  /** Whole seconds. */
  readonly uptime: number;
}

export interface NeighboursOptions {
  readonly peers: readonly { readonly name: string; readonly url: string }[];
  readonly tracer: Tracer;
}

const probeTimeoutMs = 1_000;

/** How the other services are. */
export class Neighbours {
  readonly #probes: ReadonlyMap<string, Probe<Health>>;

  constructor({ peers, tracer }: NeighboursOptions) {
    this.#probes = new Map(
      peers.map(({ name, url }) => {
        const client: HealthClient = createClient(
          { ...healthOnly, name },
          { baseUrl: url, tracer },
        );
        return [name, new Probe(() => askHealth(client))];
      }),
    );
  }

  /** The health of those that answer, by name, as it was in the last two seconds; at once. */
  async glance(): Promise<ReadonlyMap<string, Health>> {
    await glanceAt([...this.#probes.values()]);
    return this.#answers();
  }

  /** The same, asked now; takes a second at most. */
  async look(): Promise<ReadonlyMap<string, Health>> {
    await Promise.all([...this.#probes.values()].map((probe) => probe.measure()));
    return this.#answers();
  }

  #answers(): ReadonlyMap<string, Health> {
    const answers = new Map<string, Health>();
    for (const [name, { value }] of this.#probes) if (value) answers.set(name, value);
    return answers;
  }
}

const healthOnly = {
  title: 'Health',
  version: '1.0.0',
  description: 'What every service answers.',
  error: plainEnvelope.schema,
  routes: { health: healthRoute('/health', {}) },
} as const satisfies Omit<Contract, 'name'>;

type HealthClient = Client<typeof healthOnly & { readonly name: string }>;

async function askHealth(client: HealthClient): Promise<Health> {
  const answer: unknown = await client.health({}, { trace: 'none', timeoutMs: probeTimeoutMs });
  if (!isHealth(answer)) throw new Error('this is no service of the suite');
  return answer;
}

/** Who knows what listens there. */
function isHealth(answer: unknown): answer is Health {
  const { status, version, uptime } = (answer ?? {}) as Partial<Record<keyof Health, unknown>>;
  return typeof status === 'string' && typeof version === 'string' && typeof uptime === 'number';
}
