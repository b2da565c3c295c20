import { healthRoute, type Contract } from '../kit/contract.ts';
import { plainEnvelope } from '../kit/envelope.ts';

/** What others may know of chat. */
export const chatContract = {
  name: 'chat',
  title: 'Ennead Chat',
  version: '0.1.0',
  description: 'Conversations over REST, sockets and GraphQL.',
  error: plainEnvelope.schema,
  routes: {
    health: healthRoute('/health', {}),
  },
} as const satisfies Contract;
