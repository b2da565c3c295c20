import { healthRoute, type Contract } from '../kit/contract.ts';
import { plainEnvelope } from '../kit/envelope.ts';

/** What others may know of workflow. */
export const workflowContract = {
  name: 'workflow',
  title: 'Ennead Workflow',
  version: '0.1.0',
  description: 'Visual workflows that survive crashes.',
  error: plainEnvelope.schema,
  routes: {
    health: healthRoute('/api/health', {}),
  },
} as const satisfies Contract;
