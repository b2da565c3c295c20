import { healthRoute, type Contract } from '../kit/contract.ts';
import { plainEnvelope } from '../kit/envelope.ts';

/** What others may know of mesh. */
export const meshContract = {
  name: 'mesh',
  title: 'Ennead Mesh',
  version: '1.0.0',
  description: 'Agents meet here: registration, discovery, tasks, votes and attestations.',
  error: plainEnvelope.schema,
  routes: {
    health: healthRoute('/api/v1/health', {}),
  },
} as const satisfies Contract;
