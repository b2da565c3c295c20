import { healthRoute, type Contract } from '../kit/contract.ts';
import { plainEnvelope } from '../kit/envelope.ts';

/** What others may know of studio. */
export const studioContract = {
  name: 'studio',
  title: 'Ennead Studio',
  version: '1.0.0',
  description: 'Workspaces, agents and their synchronisation.',
  error: plainEnvelope.schema,
  routes: {
    health: healthRoute('/health', {}),
  },
} as const satisfies Contract;
