import { healthRoute, type Contract } from '../kit/contract.ts';
import { plainEnvelope } from '../kit/envelope.ts';

/** What others may know of tracer. */
export const tracerContract = {
  name: 'tracer',
  title: 'Ennead Tracer',
  version: '1.0.0',
  description: 'Traces, metrics and alerts of everything that runs.',
  error: plainEnvelope.schema,
  routes: {
    health: healthRoute('/api/v1/health', {}),
  },
} as const satisfies Contract;
