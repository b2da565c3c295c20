import type { Contract } from '../kit/contract.ts';
import { plainEnvelope } from '../kit/envelope.ts';
import { alertRoutes } from './schemas/alerts.ts';
import { explainRoutes } from './schemas/explain.ts';
import { interopRoutes } from './schemas/interop.ts';
import { metricRoutes } from './schemas/metrics.ts';
import { otlpRoutes } from './schemas/otlp.ts';
import { traceRoutes, traceSockets } from './schemas/traces.ts';

/** What others may know of tracer. */
export const tracerContract = {
  name: 'tracer',
  title: 'Ennead Tracer',
  version: '1.0.0',
  description: 'Traces, metrics and alerts of everything that runs.',
  error: plainEnvelope.schema,
  routes: {
    ...otlpRoutes,
    ...traceRoutes,
    ...explainRoutes,
    ...metricRoutes,
    ...alertRoutes,
    ...interopRoutes,
  },
  sockets: traceSockets,
} as const satisfies Contract;
