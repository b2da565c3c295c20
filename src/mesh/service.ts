import type { Host, Service } from '../kit/service.ts';
import { meshSettings, type MeshConfig } from './config.ts';
import { meshContract } from './contract.ts';
import { meshEnvelope } from './envelope.ts';
import { meshGrpc } from './events.ts';
import { openParts } from './parts.ts';
import { activitySocketHandlers } from './routes/activity.ts';
import { meshHandlers } from './routes/routes.ts';

/** The mesh has agents find one another, work for one another and decide together. */
export const mesh = {
  contract: meshContract,
  envelope: meshEnvelope,
  rate: { perMinute: 500, burst: 750 },
  settings: meshSettings,
  ports: { [meshGrpc]: 11 },
  migrations: new URL('./migrations/', import.meta.url),
  // Its own agent joins as any other.
  grants: ['mesh:communicate'],
  start,
} satisfies Service<typeof meshContract, typeof meshSettings>;

async function start(host: Host<MeshConfig>): Promise<AsyncDisposable> {
  const parts = await openParts(host);
  host.http.serve(meshContract, meshHandlers(parts));
  host.http.serveSockets(meshContract, activitySocketHandlers(parts.activity));
  return parts;
}
