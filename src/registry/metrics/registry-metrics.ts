import { Metrics, type Count, type Family, type Observation } from '../../kit/metrics.ts';
import {
  connectionStatuses,
  protocols,
  type Connection,
  type Directory,
} from '../connections/connection.ts';
import type { CheckOutcome } from '../health/checker.ts';
import type { Outcome, RunningRequest, Traffic } from '../traffic/traffic.ts';

/** What the metrics look at when somebody reads them. */
export interface RegistrySight {
  readonly connections: () => Iterable<Connection>;
  /** Processes of stdio servers that run here. */
  readonly children: () => number;
  /** Open links of this replica. */
  readonly sessions: () => number;
  /** Whether the scheduled checks run here. */
  readonly isChecking: () => boolean;
}

/** How many connections there are and how many answered when they were last asked. */
export interface ConnectionCounts {
  /** That are not disconnected. */
  readonly connections: number;
  readonly healthy: number;
  readonly unhealthy: number;
}

const secondsBuckets = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
];

/** Counts what this replica does. */
export class RegistryMetrics {
  /** Where other parts of the registry add metrics of their own. */
  readonly metrics = new Metrics();
  readonly #checks: Family<Count>;
  readonly #checkSeconds: Observation;
  readonly #calls: Family<Count>;
  readonly #callSeconds: Observation;

  constructor(sight: RegistrySight) {
    const { metrics } = this;
    openGauges(metrics, sight);
    this.#checks = metrics.counter({
      name: 'registry_health_checks_total',
      help: 'Health checks by how they came out.',
      labels: ['outcome'],
    });
    this.#checkSeconds = metrics
      .histogram({
        name: 'registry_health_check_seconds',
        help: 'Time until a server answered a health check, or was given up.',
        buckets: secondsBuckets,
      })
      .of();
    this.#calls = metrics.counter({
      name: 'registry_calls_total',
      help: 'Requests to servers by the name of the connection and how they ended.',
      labels: ['connection', 'outcome'],
    });
    this.#callSeconds = metrics
      .histogram({
        name: 'registry_call_seconds',
        help: 'Time that requests to servers took.',
        buckets: secondsBuckets,
      })
      .of();
  }

  checked(outcome: CheckOutcome, seconds: number): void {
    this.#checks.of(outcome).inc();
    this.#checkSeconds.observe(seconds);
  }

  called(connection: string, outcome: Outcome, seconds: number): void {
    this.#calls.of(connection, outcome).inc();
    this.#callSeconds.observe(seconds);
  }

  /** In the text format of Prometheus. */
  answer(): Promise<Response> {
    return this.metrics.answer();
  }
}

/** Traffic whose requests the metrics count too. */
export class MeteredTraffic implements Traffic {
  readonly #traffic: Traffic;
  readonly #metrics: Pick<RegistryMetrics, 'called'>;
  readonly #directory: Pick<Directory, 'find'>;

  constructor(
    traffic: Traffic,
    metrics: Pick<RegistryMetrics, 'called'>,
    directory: Pick<Directory, 'find'>,
  ) {
    this.#traffic = traffic;
    this.#metrics = metrics;
    this.#directory = directory;
  }

  begin(connectionId: string, capability?: string): RunningRequest {
    const running = this.#traffic.begin(connectionId, capability);
    const beginMs = performance.now();
    let isEnded = false;
    return {
      end: (outcome) => {
        running.end(outcome);
        if (isEnded) return;
        isEnded = true;
        const name = this.#directory.find(connectionId)?.name ?? 'unknown';
        this.#metrics.called(name, outcome, (performance.now() - beginMs) / 1000);
      },
    };
  }

  figures(connectionId: string): ReturnType<Traffic['figures']> {
    return this.#traffic.figures(connectionId);
  }
}

/** Counted anew each time. */
export function countConnections(connections: Iterable<Connection>): ConnectionCounts {
  const counts = { connections: 0, healthy: 0, unhealthy: 0 };
  for (const { status, health } of connections) {
    if (status === 'disconnected') continue;
    counts.connections += 1;
    if (health.failuresInRow > 0) counts.unhealthy += 1;
    else if (health.status !== 'initializing') counts.healthy += 1;
  }
  return counts;
}

function openGauges(metrics: Metrics, sight: RegistrySight): void {
  metrics.gauge(
    {
      name: 'registry_connections',
      help: 'Connections by status and protocol.',
      labels: ['status', 'protocol'],
    },
    (set) => {
      for (const [status, protocol, count] of countByKind(sight.connections())) {
        set(count, status, protocol);
      }
    },
  );
  metrics.gauge(
    { name: 'registry_children', help: 'Processes of stdio servers that run here.' },
    (set) => set(sight.children()),
  );
  metrics.gauge(
    { name: 'registry_sessions', help: 'Links to servers that are open here.' },
    (set) => set(sight.sessions()),
  );
  metrics.gauge(
    { name: 'registry_health_checking', help: '1 where the scheduled health checks run.' },
    (set) => set(sight.isChecking() ? 1 : 0),
  );
}

/** Every pair is named, so that a figure which becomes 0 does not vanish. */
function countByKind(connections: Iterable<Connection>): [string, string, number][] {
  const counts = new Map<string, number>();
  for (const { status, protocol } of connections) {
    const kind = `${status} ${protocol}`;
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return connectionStatuses.flatMap((status) =>
    protocols.map((protocol): [string, string, number] => [
      status,
      protocol,
      counts.get(`${status} ${protocol}`) ?? 0,
    ]),
  );
}
