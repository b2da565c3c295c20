import type { Host } from '../kit/service.ts';
import type { RegistryConfig } from './config.ts';
import { registryContract } from './contract.ts';
import { openParts } from './parts.ts';
import { registryHandlers } from './routes/routes.ts';
import { streamSocketHandlers } from './routes/stream.ts';

export async function start(host: Host<RegistryConfig>): Promise<AsyncDisposable> {
  const parts = await openParts(host);
  host.http.serve(registryContract, registryHandlers(parts));
  host.http.serveSockets(registryContract, streamSocketHandlers(parts.events));
  return parts;
}
