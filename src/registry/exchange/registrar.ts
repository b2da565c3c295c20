import type { Identity } from '../../kit/identity/identity.ts';
import type {
  Capability,
  Connection,
  ConnectionType,
  HealthCheckSettings,
  Protocol,
  RemoteEndpoint,
  StdioEndpoint,
} from '../connections/connection.ts';

/** What a connection is registered with; the registrar checks it like the body of `POST /connections`. */
export interface NewConnection {
  readonly name: string;
  readonly type: ConnectionType;
  readonly protocol: Protocol;
  /** Absent for a client that cannot be called. */
  readonly endpoint?: StdioEndpoint | RemoteEndpoint;
  readonly capabilities: readonly Capability[];
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly healthCheck?: Partial<HealthCheckSettings>;
}

/** What a CMS may change of a connection. */
export interface ConnectionUpdate {
  /** Merged by key; null removes one. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** Makes and changes connections as the routes of connections do, in somebody's name. */
export interface Registrar {
  /**
   * Faults as `POST /connections`: `invalid`, `conflict` (`name_taken`), `forbidden`
   * (`egress_blocked`). A command stays unapproved unless the identity holds `registry:execute`.
   */
  register(input: NewConnection, identity: Identity): Promise<Connection>;
  /** Faults as `register` would now, and changes nothing. */
  check(input: NewConnection, identity: Identity): Promise<void>;
  /** Faults as `PATCH /connections/:id`. */
  update(id: string, change: ConnectionUpdate, identity: Identity): Promise<Connection>;
  /** Also when it is disconnected already. */
  disconnect(id: string, identity: Identity): Promise<Connection>;
}
