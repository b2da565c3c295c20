import { plainEnvelope } from '../kit/envelope.ts';
import type { Service } from '../kit/service.ts';
import { studioContract } from './contract.ts';

/** Studio answers its health; it has no other operation yet. */
export const studio = {
  contract: studioContract,
  envelope: plainEnvelope,
  rate: { perMinute: 500, burst: 750 },
  settings: {},
  grants: [],
  start: async (host) => {
    host.http.serve(studioContract, { health: () => host.health() });
    return { [Symbol.asyncDispose]: async () => {} };
  },
} satisfies Service<typeof studioContract>;
