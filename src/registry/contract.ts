import { healthRoute, type Contract } from '../kit/contract.ts';
import { plainEnvelope } from '../kit/envelope.ts';

/** What others may know of registry. */
export const registryContract = {
  name: 'registry',
  title: 'Ennead Registry',
  version: '0.2.0',
  description: 'Connections to MCP servers and clients.',
  error: plainEnvelope.schema,
  routes: {
    health: healthRoute('/health', {}),
  },
} as const satisfies Contract;
