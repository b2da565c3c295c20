import { plainEnvelope } from '../kit/envelope.ts';
import type { Service } from '../kit/service.ts';
import { registryContract } from './contract.ts';

/** Registry answers its health; it has no other operation yet. */
export const registry = {
  contract: registryContract,
  envelope: plainEnvelope,
  rate: { perMinute: 500, burst: 750 },
  settings: {},
  grants: [],
  start: async (host) => {
    host.http.serve(registryContract, { health: () => host.health() });
    return { [Symbol.asyncDispose]: async () => {} };
  },
} satisfies Service<typeof registryContract>;
