import { plainEnvelope } from '../kit/envelope.ts';
import type { Service } from '../kit/service.ts';
import { chatContract } from './contract.ts';

/** Chat answers its health; it has no other operation yet. */
export const chat = {
  contract: chatContract,
  envelope: plainEnvelope,
  rate: { perMinute: 500, burst: 750 },
  settings: {},
  grants: [],
  start: async (host) => {
    host.http.serve(chatContract, { health: () => host.health() });
    return { [Symbol.asyncDispose]: async () => {} };
  },
} satisfies Service<typeof chatContract>;
