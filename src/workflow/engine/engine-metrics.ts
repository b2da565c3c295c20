import type { Metrics } from '../../kit/metrics.ts';
import type { ExecutionStatus } from './execution.ts';

/** What the engine counts. */
export interface EngineMetrics {
  ended(status: ExecutionStatus): void;
  node(component: string, durationMs: number): void;
}

const secondsBuckets = [0.001, 0.005, 0.02, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 300];

/** Registers the engine's metrics; `active` and `queued` are asked for when somebody reads them. */
export function engineMetrics(
  metrics: Pick<Metrics, 'counter' | 'histogram' | 'gauge'>,
  read: { readonly active: () => number; readonly queued: () => number },
): EngineMetrics {
  const executions = metrics.counter({
    name: 'workflow_executions_total',
    help: 'executions that ended on this replica',
    labels: ['status'],
  });
  const nodes = metrics.histogram({
    name: 'workflow_node_seconds',
    help: 'how long nodes ran, all attempts and the waits between them included',
    labels: ['component'],
    buckets: secondsBuckets,
  });
  metrics.gauge({ name: 'workflow_active', help: 'executions that this replica runs' }, (set) =>
    set(read.active()),
  );
  metrics.gauge(
    {
      name: 'workflow_queued',
      help: 'executions that no replica runs yet, as this one last saw them',
    },
    (set) => set(read.queued()),
  );
  return {
    ended: (status) => executions.of(status).inc(),
    node: (component, durationMs) => nodes.of(component).observe(durationMs / 1000),
  };
}
