import { plainEnvelope } from '../kit/envelope.ts';
import type { Service } from '../kit/service.ts';
import { meshContract } from './contract.ts';

/** Mesh answers its health; it has no other operation yet. */
export const mesh = {
  contract: meshContract,
  envelope: plainEnvelope,
  rate: { perMinute: 500, burst: 750 },
  settings: {},
  grants: [],
  start: async (host) => {
    host.http.serve(meshContract, { health: () => host.health() });
    return { [Symbol.asyncDispose]: async () => {} };
  },
} satisfies Service<typeof meshContract>;
