import type { Host } from '../kit/service.ts';
import type { StudioConfig } from './config.ts';
import { studioContract } from './contract.ts';
import { openParts } from './parts.ts';
import { studioHandlers } from './routes/routes.ts';
import { syncSocketHandlers } from './routes/sync.ts';

export async function start(host: Host<StudioConfig>): Promise<AsyncDisposable> {
  const parts = await openParts(host);
  host.http.serve(studioContract, studioHandlers(parts));
  host.http.serveSockets(studioContract, syncSocketHandlers(parts));
  return parts;
}
