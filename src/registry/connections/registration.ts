import type { RemoteEndpoint, StdioEndpoint } from './connection.ts';
import type { ConnectionRow } from './connection-row.ts';
import { refuseHidden } from './endpoint-values.ts';
import {
  readCapabilities,
  readEndpoint,
  readHealthCheck,
  readMetadata,
  readName,
  readNoEndpoint,
  type ConnectionRequest,
  type EndpointRules,
} from './request.ts';
import { unknownHealth, type Change } from './update.ts';

export interface RegistrationOptions {
  readonly id: string;
  readonly change: Change;
  readonly rules: EndpointRules;
  /** Keeps the secret values of an endpoint apart. */
  readonly close: (
    id: string,
    endpoint: StdioEndpoint | RemoteEndpoint,
  ) => Pick<ConnectionRow, 'endpoint' | 'secrets'>;
}

/** A new connection as a request asks for it; throws `invalid` or `forbidden` when it may not be. */
export function readRegistration(
  request: ConnectionRequest,
  { id, change: { subject, mayExecute, atMs }, rules, close }: RegistrationOptions,
): Omit<ConnectionRow, 'revision'> {
  const { type, protocol, capabilities = [], metadata = {}, healthCheck } = request;
  const name = readName(request.name);
  const endpoint = request.endpoint
    ? refuseHidden(readEndpoint(request.endpoint, protocol, rules))
    : readNoEndpoint(type, protocol);
  const isApproved = protocol === 'stdio' && mayExecute;
  return {
    id,
    name,
    type,
    protocol,
    ...close(id, endpoint),
    approval: isApproved ? { approvedBy: subject, approvedAtMs: atMs } : null,
    declared: readCapabilities(capabilities),
    metadata: readMetadata(metadata),
    healthCheck: readHealthCheck(healthCheck),
    status: 'active',
    ownerId: subject,
    health: unknownHealth,
    offer: null,
    server: null,
    pins: null,
    quarantined: [],
    createdAtMs: atMs,
    lastActiveAtMs: atMs,
    disconnectedAtMs: null,
  };
}
