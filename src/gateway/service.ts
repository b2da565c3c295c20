import type { Host, Service } from '../kit/service.ts';
import { gatewaySettings, type GatewaySettings } from './config.ts';
import { gatewayContract } from './contract.ts';
import { gatewayEnvelope } from './envelope.ts';
import { openParts } from './parts.ts';
import { gatewayHandlers } from './routes/routes.ts';

/** The gateway takes chats to the models that answer them. */
export const gateway = {
  contract: gatewayContract,
  envelope: gatewayEnvelope,
  rate: { perMinute: 1000, burst: 1500 },
  settings: gatewaySettings,
  migrations: new URL('./migrations/', import.meta.url),
  grants: [],
  start,
} satisfies Service<typeof gatewayContract, typeof gatewaySettings>;

async function start(host: Host<GatewaySettings>): Promise<AsyncDisposable> {
  const parts = await openParts(host);
  host.http.serve(gatewayContract, gatewayHandlers(parts));
  return parts;
}
