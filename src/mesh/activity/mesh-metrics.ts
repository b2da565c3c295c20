import { Metrics, type Count, type Family, type Observation } from '../../kit/metrics.ts';
import { agentStatuses, type Agent } from '../agents/agent.ts';
import { RateWindow } from './rate-window.ts';

/** What the metrics look at when somebody reads them. */
export interface MeshSight {
  readonly agents: () => Iterable<Pick<Agent, 'status'>>;
  /** Swarms that have not decided yet. */
  readonly activeSwarms: () => number;
}

/** What health says of the mesh, measured. */
export interface MeshFigures {
  readonly totalAgents: number;
  readonly activeSwarms: number;
  /** Of the last minute. */
  readonly messagesPerSecond: number;
  /** Milliseconds of a task, over the last five minutes; 0 when there was none. */
  readonly averageLatency: number;
}

/** What the mesh is asked to do, besides what its events tell. */
export type MessageKind = 'heartbeat' | 'discovery';

const latencyBuckets = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300,
];
const discoveryBuckets = [0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.025, 0.1];

/** Counts what this replica does. */
export class MeshMetrics {
  /** Where other parts of the mesh add metrics of their own. */
  readonly metrics = new Metrics();
  readonly #sight: MeshSight;
  readonly #tasks: Count;
  readonly #outcomes: Family<Count>;
  readonly #latency: Observation;
  readonly #events: Family<Count>;
  readonly #messages: Family<Count>;
  readonly #discoverySeconds: Observation;
  readonly #grpcCalls: Family<Count>;
  readonly #messageRate: RateWindow;
  readonly #taskTimes: RateWindow;

  constructor(sight: MeshSight, now: () => number = Date.now) {
    const { metrics } = this;
    this.#sight = sight;
    this.#messageRate = new RateWindow(60, now);
    this.#taskTimes = new RateWindow(300, now);
    openGauges(metrics, sight);
    this.#tasks = metrics
      .counter({ name: 'agent_mesh_tasks_total', help: 'Tasks that agents were given.' })
      .of();
    this.#outcomes = metrics.counter({
      name: 'agent_mesh_task_outcomes_total',
      help: 'Tasks by how they ended.',
      labels: ['status'],
    });
    this.#latency = metrics
      .histogram({
        name: 'agent_mesh_latency_seconds',
        help: 'Time from a task to its end.',
        buckets: latencyBuckets,
      })
      .of();
    this.#events = metrics.counter({
      name: 'agent_mesh_events_total',
      help: 'What happened on the mesh, by type of event.',
      labels: ['type'],
    });
    this.#messages = metrics.counter({
      name: 'agent_mesh_messages_total',
      help: 'Heartbeats and discoveries.',
      labels: ['kind'],
    });
    this.#discoverySeconds = metrics
      .histogram({
        name: 'agent_mesh_discovery_seconds',
        help: 'Time to find agents, without waiting for changes.',
        buckets: discoveryBuckets,
      })
      .of();
    this.#grpcCalls = metrics.counter({
      name: 'agent_mesh_grpc_calls_total',
      help: 'Calls over gRPC, by what they asked for and how they ended.',
      labels: ['operation', 'code'],
    });
  }

  /** Notes an event of this replica; a task's end carries its `duration` in milliseconds. */
  event(type: string, data: Readonly<Record<string, unknown>>): void {
    this.#events.of(type).inc();
    this.#messageRate.add();
    if (type !== 'task-executed' && type !== 'task-failed') return;
    this.#tasks.inc();
    const { duration, status } = data;
    const fallback = type === 'task-executed' ? 'completed' : 'failed';
    this.#outcomes.of(typeof status === 'string' ? status : fallback).inc();
    if (typeof duration !== 'number') return;
    this.#latency.observe(duration / 1000);
    this.#taskTimes.add(duration);
  }

  message(kind: MessageKind): void {
    this.#messages.of(kind).inc();
    this.#messageRate.add();
  }

  discovered(seconds: number): void {
    this.message('discovery');
    this.#discoverySeconds.observe(seconds);
  }

  grpcCall(operation: string, code: string): void {
    this.#grpcCalls.of(operation, code).inc();
  }

  figures(): MeshFigures {
    let totalAgents = 0;
    for (const { status } of this.#sight.agents()) if (status !== 'offline') totalAgents += 1;
    return {
      totalAgents,
      activeSwarms: this.#sight.activeSwarms(),
      messagesPerSecond: round(this.#messageRate.perSecond),
      averageLatency: round(this.#taskTimes.mean),
    };
  }

  /** In the text format of Prometheus. */
  answer(): Promise<Response> {
    return this.metrics.answer();
  }
}

function openGauges(metrics: Metrics, { agents, activeSwarms }: MeshSight): void {
  const count = () => {
    const counts = new Map<string, number>(agentStatuses.map((status) => [status, 0]));
    for (const { status } of agents()) counts.set(status, (counts.get(status) ?? 0) + 1);
    return counts;
  };
  metrics.gauge(
    { name: 'agent_mesh_agents_total', help: 'Agents that are registered and not offline.' },
    (set) => {
      let total = 0;
      for (const [status, number] of count()) if (status !== 'offline') total += number;
      set(total);
    },
  );
  metrics.gauge(
    { name: 'agent_mesh_agents', help: 'Agents by status.', labels: ['status'] },
    (set) => {
      for (const [status, number] of count()) set(number, status);
    },
  );
  metrics.gauge(
    { name: 'agent_mesh_active_swarms', help: 'Swarms that have not decided yet.' },
    (set) => set(activeSwarms()),
  );
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
