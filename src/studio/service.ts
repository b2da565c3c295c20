import { plainEnvelope } from '../kit/envelope.ts';
import type { Service } from '../kit/service.ts';
import { studioSettings } from './config.ts';
import { studioContract } from './contract.ts';

/** Studio keeps workspaces, runs agents in them, and gives them work. */
export const studio = {
  contract: studioContract,
  envelope: plainEnvelope,
  rate: { perMinute: 500, burst: 750 },
  settings: studioSettings,
  migrations: new URL('./migrations/', import.meta.url),
  // Its agents get keys of their own, which can do no more than this.
  grants: [
    'auth:delegate',
    'mesh:communicate',
    'registry:call',
    'workflow:read',
    'workflow:execute',
  ],
  load: () => import('./start.ts'),
} satisfies Service<typeof studioContract, typeof studioSettings>;
