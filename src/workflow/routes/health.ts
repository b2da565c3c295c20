import type { Handlers } from '../../kit/http/call.ts';
import type { workflowContract } from '../contract.ts';
import type { WorkflowParts } from '../parts.ts';

type HealthHandlers = Pick<Handlers<typeof workflowContract>, 'health' | 'metrics'>;

/** How the service is. */
export function healthHandlers({
  host,
  workload,
  metrics,
}: Pick<WorkflowParts, 'host' | 'workload' | 'metrics'>): HealthHandlers {
  return {
    health: async () => {
      const base = host.health();
      const { isMeasured, ...executions } = await workload.read();
      return {
        ...base,
        status: isMeasured ? base.status : 'degraded',
        engine: { status: isMeasured ? 'running' : 'degraded', version: base.version },
        executions,
      };
    },
    metrics: () => metrics.answer(),
  };
}
