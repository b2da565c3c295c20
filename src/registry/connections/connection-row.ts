import type { Offer, ServerIdentity } from '../links/link.ts';
import type {
  Approval,
  Capability,
  ConnectionHealth,
  ConnectionStatus,
  ConnectionType,
  HealthCheckSettings,
  Pins,
  Protocol,
} from './connection.ts';

/** An endpoint as the table and the bus carry it: the values of headers and environment are apart. */
export type PlainEndpoint =
  | { readonly command: string; readonly args: readonly string[] }
  | { readonly url: string };

/** What requests, checks and time change of a connection. */
export interface ConnectionState {
  readonly id: string;
  readonly revision: number;
  readonly status: ConnectionStatus;
  readonly health: ConnectionHealth;
  readonly lastActiveAtMs: number;
  readonly disconnectedAtMs: number | null;
}

/** A connection as the table and the bus carry it. */
export interface ConnectionRow extends ConnectionState {
  readonly name: string;
  readonly type: ConnectionType;
  readonly protocol: Protocol;
  readonly ownerId: string;
  readonly endpoint: PlainEndpoint;
  /** Sealed JSON of headers or environment; null for none. */
  readonly secrets: string | null;
  readonly approval: Approval | null;
  readonly declared: readonly Capability[];
  readonly offer: Offer | null;
  readonly server: ServerIdentity | null;
  readonly pins: Pins | null;
  readonly quarantined: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly healthCheck: HealthCheckSettings;
  readonly createdAtMs: number;
}

/** A connection as it was at one time. */
export interface Version {
  readonly id: string;
  readonly revision: number;
}
