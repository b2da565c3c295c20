import type { Offer, ServerIdentity } from '../links/link.ts';

export const connectionTypes = ['server', 'client'] as const;
export type ConnectionType = (typeof connectionTypes)[number];

export const protocols = ['stdio', 'http', 'websocket'] as const;
export type Protocol = (typeof protocols)[number];

export const connectionStatuses = ['active', 'idle', 'disconnected', 'error'] as const;
export type ConnectionStatus = (typeof connectionStatuses)[number];

export const healthStatuses = ['initializing', 'healthy', 'degraded', 'error'] as const;
export type HealthStatus = (typeof healthStatuses)[number];

/** A command of this host; `env` comes on top of the scrubbed environment. */
export interface StdioEndpoint {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** An address of `http(s)` or `ws(s)`, by the connection's protocol. */
export interface RemoteEndpoint {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What a connection says it can do. */
export interface Capability {
  readonly name: string;
  readonly description?: string;
  /** JSON Schema of the input. */
  readonly schema?: Readonly<Record<string, unknown>>;
}

export interface HealthCheckSettings {
  readonly enabled: boolean;
  /** Seconds between two checks. */
  readonly interval: number;
  /** Milliseconds that one may take. */
  readonly timeout: number;
}

/** What the checks and calls found; the figures are since the registration. */
export interface ConnectionHealth {
  readonly status: HealthStatus;
  /** Why it is `error` or `degraded`: lower snake case such as `command_not_allowed`. */
  readonly reason?: string;
  readonly lastCheckMs?: number;
  readonly checksPerformed: number;
  readonly failedChecks: number;
  /** Of checks; a success makes it 0. */
  readonly failuresInRow: number;
  /** Since when every check succeeded; absent while the last one failed. */
  readonly upSinceMs?: number;
}

/** Who allowed the command of a stdio connection to run as it now is. */
export interface Approval {
  readonly approvedBy: string;
  readonly approvedAtMs: number;
}

/** The tools that calls were agreed for: a digest each of name, description and schemas. */
export interface Pins {
  readonly tools: Readonly<Record<string, string>>;
  readonly pinnedAtMs: number;
}

interface ConnectionBase {
  readonly id: string;
  /** Unique among connections that are not disconnected; `^[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,62}[A-Za-z0-9])?$`, without `__`. */
  readonly name: string;
  readonly type: ConnectionType;
  readonly status: ConnectionStatus;
  /** Who registered it. */
  readonly ownerId: string;
  readonly declared: readonly Capability[];
  /** What the server said that it has; absent until it was asked. */
  readonly offer?: Offer;
  readonly server?: ServerIdentity;
  readonly pins?: Pins;
  /** Tools that changed since they were pinned, when such tools are kept from being called. */
  readonly quarantined: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly healthCheck: HealthCheckSettings;
  readonly health: ConnectionHealth;
  readonly createdAtMs: number;
  readonly lastActiveAtMs: number;
  readonly disconnectedAtMs?: number;
  /** Grows with every change in the table. */
  readonly revision: number;
}

export type Connection = ConnectionBase &
  (
    | {
        readonly protocol: 'stdio';
        readonly endpoint: StdioEndpoint;
        /** Absent: nobody who may run commands has agreed to this one. */
        readonly approval?: Approval;
      }
    | { readonly protocol: 'http' | 'websocket'; readonly endpoint: RemoteEndpoint }
  );

/** A connection before and after; no `after` never comes: a disconnected one stays readable. */
export interface ConnectionChange {
  readonly before: Connection | undefined;
  readonly after: Connection;
}

/** All connections in memory, kept like the table and like every other replica's. */
export interface Directory {
  readonly size: number;
  find(id: string): Connection | undefined;
  /** Among those that are not disconnected. */
  findByName(name: string): Connection | undefined;
  /** In the order of their registration. */
  all(): Iterable<Connection>;
  /** Those that are not disconnected and declare or offer it. */
  offering(capability: string): Iterable<Connection>;
  /** The names of what connections that are not disconnected declare or offer. */
  capabilities(): Iterable<string>;
  /** Called after each change, also one that another replica made. The answer ends it. */
  onChange(listener: (change: ConnectionChange) => void): () => void;
}

/** What a check or a call found of one connection. */
export interface HealthNote {
  readonly id: string;
  readonly status: ConnectionStatus;
  readonly health: ConnectionHealth;
}

/** What was learned of a server. */
export interface Learned {
  readonly offer?: Offer;
  readonly server?: ServerIdentity;
  readonly pins?: Pins;
  readonly quarantined?: readonly string[];
}

/** Somebody agreed to tools as they are now. */
export interface Acceptance {
  readonly by: string;
  /** The names of those that differed from what was agreed to before. */
  readonly tools: readonly string[];
}

/** The changes that other parts make; each is in the table before it is in the directory. */
export interface ConnectionNotes {
  /** Notes about connections that were disconnected meanwhile are dropped. */
  noteHealth(notes: readonly HealthNote[]): Promise<void>;
  /** An acceptance goes into the history beside it. */
  noteLearned(id: string, learned: Learned, acceptance?: Acceptance): Promise<void>;
  /**
   * A request went through it now: batched, but an idle one becomes active at once. Where it was idle,
   * resolves when everybody sees that it is not; never rejects.
   */
  noteActive(id: string): Promise<void> | undefined;
}
