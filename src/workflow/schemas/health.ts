import { Type } from 'typebox';
import { healthRoute, type Route } from '../../kit/contract.ts';
import { metricsRoute } from '../../kit/metrics.ts';

/** How the service is. */
export const healthRoutes = {
  health: healthRoute('/api/health', {
    engine: Type.Object({
      status: Type.String({ description: '`running`, or `degraded` while the database is away' }),
      version: Type.String(),
    }),
    executions: Type.Object({
      active: Type.Integer({ description: 'of all replicas: those that run or wait' }),
      queued: Type.Integer(),
      totalToday: Type.Integer({ description: 'started since midnight, UTC' }),
    }),
  }),
  metrics: metricsRoute('/api/v1/metrics'),
} as const satisfies Record<string, Route>;
