import type { Contract } from '../kit/contract.ts';
import { mcpEnvelope } from '../kit/mcp/mcp-envelope.ts';
import { authorizationRoutes } from './schemas/authorization.ts';
import { balancingRoutes } from './schemas/balancing.ts';
import { callsRoutes } from './schemas/calls.ts';
import { connectionRoutes } from './schemas/connections.ts';
import { exchangeRoutes } from './schemas/exchange.ts';
import { healthRoutes } from './schemas/health.ts';
import { streamSockets } from './schemas/stream.ts';

/** What others may know of the registry. */
export const registryContract = {
  name: 'registry',
  title: 'Ennead Registry',
  version: '0.2.0',
  description:
    'Every tool of every MCP server, found, watched and called through one door: connections, their health and load, one aggregated MCP endpoint.',
  error: mcpEnvelope.schema,
  routes: {
    ...connectionRoutes,
    ...healthRoutes,
    ...balancingRoutes,
    ...callsRoutes,
    ...authorizationRoutes,
    ...exchangeRoutes,
  },
  sockets: streamSockets,
} as const satisfies Contract;
