import { mcpEnvelope } from '../kit/mcp/mcp-envelope.ts';
import type { Host, Service } from '../kit/service.ts';
import { registrySettings, type RegistryConfig } from './config.ts';
import { registryContract } from './contract.ts';
import { openParts } from './parts.ts';
import { registryHandlers } from './routes/routes.ts';
import { streamSocketHandlers } from './routes/stream.ts';

/** The registry keeps connections to MCP servers and clients, and is itself an MCP server. */
export const registry = {
  contract: registryContract,
  envelope: mcpEnvelope,
  rate: { perMinute: 500, burst: 750 },
  settings: registrySettings,
  migrations: new URL('./migrations/', import.meta.url),
  grants: [],
  start,
} satisfies Service<typeof registryContract, typeof registrySettings>;

async function start(host: Host<RegistryConfig>): Promise<AsyncDisposable> {
  const parts = await openParts(host);
  host.http.serve(registryContract, registryHandlers(parts));
  host.http.serveSockets(registryContract, streamSocketHandlers(parts.events));
  return parts;
}
