import type { Handlers } from '../../kit/http/call.ts';
import type { registryContract } from '../contract.ts';
import type { RegistryParts } from '../parts.ts';
import { authorizationHandlers } from './authorization.ts';
import { balancingHandlers } from './balancing.ts';
import { callsHandlers } from './calls.ts';
import { connectionHandlers } from './connections.ts';
import { exchangeHandlers } from './exchange.ts';
import { healthHandlers } from './health.ts';

/** The HTTP edge of the registry. */
export function registryHandlers(parts: RegistryParts): Handlers<typeof registryContract> {
  const { host, connections, ledger, health, supervision, metrics } = parts;
  const { directory } = connections;
  const { egress, url } = host;
  return {
    ...connectionHandlers({ connections, traffic: ledger }),
    ...healthHandlers({
      directory,
      checks: health.onDemand,
      links: parts.links,
      processDiagnostics: (id) => supervision.diagnostics(id),
      traffic: ledger,
      performance: () => ledger.overall(),
      metrics,
      health: () => host.health(),
      pingDatabase: () => host.database.ping(),
    }),
    ...balancingHandlers(parts),
    ...callsHandlers({ ...parts, url }),
    ...authorizationHandlers({ ...parts, directory }),
    ...exchangeHandlers({ syncs: parts.syncs, directory, registrar: parts.registrar, egress, url }),
  };
}
