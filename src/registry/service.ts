import { mcpEnvelope } from '../kit/mcp/mcp-envelope.ts';
import type { Service } from '../kit/service.ts';
import { registrySettings } from './config.ts';
import { registryContract } from './contract.ts';

/** The registry keeps connections to MCP servers and clients, and is itself an MCP server. */
export const registry = {
  contract: registryContract,
  envelope: mcpEnvelope,
  rate: { perMinute: 500, burst: 750 },
  settings: registrySettings,
  migrations: new URL('./migrations/', import.meta.url),
  grants: [],
  load: () => import('./start.ts'),
} satisfies Service<typeof registryContract, typeof registrySettings>;
