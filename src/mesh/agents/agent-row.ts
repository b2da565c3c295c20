import type { AgentEndpoints, AgentStatus } from './agent.ts';

/** What an agent may say of itself. */
export const reportedStatuses = ['active', 'busy', 'draining'] as const;
export type ReportedStatus = (typeof reportedStatuses)[number];

/** The card that an agent registered with. */
export interface CardFacts {
  readonly name: string;
  readonly version?: string | undefined;
  /** Whether a pinned key had signed it. */
  readonly isVerified: boolean;
}

/** A public key as JWK (RFC 7517). */
export type PublicJwk = Readonly<Record<string, unknown>> & { readonly kty: string };

/** What a registration says; key fields left undefined keep what was there. */
export interface Registration {
  readonly agentId: string;
  readonly capabilities: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly endpoints: AgentEndpoints;
  readonly isIdempotent: boolean;
  /** Seconds. */
  readonly heartbeatInterval: number;
  readonly publicKey: string | undefined;
  readonly voteKey: string | undefined;
  readonly cardKeys: readonly PublicJwk[] | undefined;
  readonly card: CardFacts | undefined;
}

/** A registration on its way into the table. */
export interface NewAgent extends Registration {
  readonly registrationId: string;
  readonly ownerId: string;
  readonly atMs: number;
}

/** The last of several registrations of one id that are stored together. */
export interface LastAgent extends NewAgent {
  /** How many they are: the epoch grows by each. */
  readonly steps: number;
}

/** An agent as the table and the bus carry it. */
export interface AgentRow {
  readonly agentId: string;
  readonly registrationId: string;
  readonly ownerId: string;
  readonly epoch: number;
  /** Of two versions of an agent, the one with the higher revision holds. */
  readonly revision: number;
  readonly capabilities: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly endpoints: AgentEndpoints;
  readonly isIdempotent: boolean;
  readonly status: AgentStatus;
  readonly load: number | null;
  readonly heartbeatInterval: number;
  readonly registeredAtMs: number;
  readonly lastSeenMs: number;
  readonly publicKey: string | null;
  readonly voteKey: string | null;
  readonly cardKeys: readonly PublicJwk[] | null;
  readonly card: CardFacts | null;
}

/** What changes of an agent between two registrations: by heartbeats, by silence, by a new key. */
export type AgentState = Pick<
  AgentRow,
  | 'agentId'
  | 'registrationId'
  | 'epoch'
  | 'revision'
  | 'status'
  | 'load'
  | 'lastSeenMs'
  | 'publicKey'
>;

/** A sign of life. */
export interface Beat {
  readonly agentId: string;
  readonly atMs: number;
  readonly load: number | undefined;
  readonly status: ReportedStatus | undefined;
}

/** An agent that was silent for too long; it stays as it is if it was heard of after `lastSeenMs`. */
export interface Silence {
  readonly agentId: string;
  readonly lastSeenMs: number;
  readonly status: 'suspect' | 'offline';
}

/** An agent that is gone, and the revision that no older version of it outlives. */
export interface Removal {
  readonly agentId: string;
  readonly revision: number;
}
