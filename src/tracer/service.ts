import { plainEnvelope } from '../kit/envelope.ts';
import type { Service } from '../kit/service.ts';
import { tracerContract } from './contract.ts';

/** Tracer answers its health; it has no other operation yet. */
export const tracer = {
  contract: tracerContract,
  envelope: plainEnvelope,
  rate: { perMinute: 200, burst: 300 },
  settings: {},
  grants: [],
  start: async (host) => {
    host.http.serve(tracerContract, { health: () => host.health() });
    return { [Symbol.asyncDispose]: async () => {} };
  },
} satisfies Service<typeof tracerContract>;
