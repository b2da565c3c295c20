import { plainEnvelope } from '../kit/envelope.ts';
import type { Host, Service } from '../kit/service.ts';
import { studioSettings, type StudioConfig } from './config.ts';
import { studioContract } from './contract.ts';
import { openParts } from './parts.ts';
import { studioHandlers } from './routes/routes.ts';
import { syncSocketHandlers } from './routes/sync.ts';

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
  start,
} satisfies Service<typeof studioContract, typeof studioSettings>;

async function start(host: Host<StudioConfig>): Promise<AsyncDisposable> {
  const parts = await openParts(host);
  host.http.serve(studioContract, studioHandlers(parts));
  host.http.serveSockets(studioContract, syncSocketHandlers(parts));
  return parts;
}
