import type { Host } from '../kit/service.ts';
import type { MeshConfig } from './config.ts';
import { meshContract } from './contract.ts';
import { openParts } from './parts.ts';
import { activitySocketHandlers } from './routes/activity.ts';
import { meshHandlers } from './routes/routes.ts';

export async function start(host: Host<MeshConfig>): Promise<AsyncDisposable> {
  const parts = await openParts(host);
  host.http.serve(meshContract, meshHandlers(parts));
  host.http.serveSockets(meshContract, activitySocketHandlers(parts.activity));
  return parts;
}
