import type { Host } from '../kit/service.ts';
import type { GatewaySettings } from './config.ts';
import { gatewayContract } from './contract.ts';
import { openParts } from './parts.ts';
import { gatewayHandlers } from './routes/routes.ts';

export async function start(host: Host<GatewaySettings>): Promise<AsyncDisposable> {
  const parts = await openParts(host);
  host.http.serve(gatewayContract, gatewayHandlers(parts));
  return parts;
}
