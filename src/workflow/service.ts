import { plainEnvelope } from '../kit/envelope.ts';
import type { Service } from '../kit/service.ts';
import { workflowContract } from './contract.ts';

/** Workflow answers its health; it has no other operation yet. */
export const workflow = {
  contract: workflowContract,
  envelope: plainEnvelope,
  rate: { perMinute: 200, burst: 300 },
  settings: {},
  grants: [],
  start: async (host) => {
    host.http.serve(workflowContract, { health: () => host.health() });
    return { [Symbol.asyncDispose]: async () => {} };
  },
} satisfies Service<typeof workflowContract>;
