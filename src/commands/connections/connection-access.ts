import { registryContract } from '../../registry/contract.ts';
import { callsRoutes } from '../../registry/schemas/calls.ts';
import { connectionRoutes } from '../../registry/schemas/connections.ts';
import { exchangeRoutes } from '../../registry/schemas/exchange.ts';
import type { AdministrationOptions } from '../operator/work.ts';
import { accessService, type ServiceAccess } from '../operator/service-access.ts';

const contract = {
  ...registryContract,
  routes: { ...connectionRoutes, ...exchangeRoutes, callConnection: callsRoutes.callConnection },
} as const;

/** The registry of a running suite, with the operator's identity. */
export type ConnectionAccess = ServiceAccess<typeof contract>;

export type ConnectionClient = ConnectionAccess['client'];

/** Finds the registry that the settings name. */
export function openConnections(options: AdministrationOptions): Promise<ConnectionAccess> {
  return accessService(contract, options);
}
