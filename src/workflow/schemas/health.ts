import { Type } from 'typebox';
import { healthRoute, type Route } from '../../kit/contract.ts';

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
  metrics: {
    method: 'GET',
    url: '/api/v1/metrics',
    aliases: ['/metrics'],
    summary: 'Read the metrics in the text format of Prometheus',
    description: 'Callers from other machines need a token.',
    auth: 'loopback',
    rateLimit: 'none',
    trace: 'none',
    schema: { response: { 200: Type.String() } },
  },
} as const satisfies Record<string, Route>;
