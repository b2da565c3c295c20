import { plainEnvelope } from '../kit/envelope.ts';
import type { Host, Service } from '../kit/service.ts';
import { tracerSettings, type TracerConfig } from './config.ts';
import { tracerContract } from './contract.ts';
import { otlpGrpc } from './events.ts';
import { openParts } from './parts.ts';
import { tracerHandlers } from './routes/routes.ts';
import { traceSocketHandlers } from './routes/traces.ts';

/** The tracer keeps what everything that runs tells of itself, and explains it. */
export const tracer = {
  contract: tracerContract,
  envelope: plainEnvelope,
  rate: { perMinute: 200, burst: 300 },
  settings: tracerSettings,
  ports: { [otlpGrpc]: 12 },
  migrations: new URL('./migrations/', import.meta.url),
  grants: [],
  start,
} satisfies Service<typeof tracerContract, typeof tracerSettings>;

async function start(host: Host<TracerConfig>): Promise<AsyncDisposable> {
  const parts = await openParts(host);
  host.http.serve(tracerContract, tracerHandlers(parts));
  host.http.serveSockets(tracerContract, traceSocketHandlers(parts));
  return parts;
}
