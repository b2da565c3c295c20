import type { Host } from '../kit/service.ts';
import type { TracerConfig } from './config.ts';
import { tracerContract } from './contract.ts';
import { openParts } from './parts.ts';
import { tracerHandlers } from './routes/routes.ts';
import { traceSocketHandlers } from './routes/traces.ts';

export async function start(host: Host<TracerConfig>): Promise<AsyncDisposable> {
  const parts = await openParts(host);
  host.http.serve(tracerContract, tracerHandlers(parts));
  host.http.serveSockets(tracerContract, traceSocketHandlers(parts));
  return parts;
}
