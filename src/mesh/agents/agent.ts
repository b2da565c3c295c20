/** What an agent says of itself, or the mesh finds out: `suspect` and `offline` come of silence. */
export const agentStatuses = ['active', 'busy', 'draining', 'suspect', 'offline'] as const;
export type AgentStatus = (typeof agentStatuses)[number];

export interface AgentEndpoints {
  /** `host:port` of an AgentCommunication server with mutual TLS. */
  readonly grpc?: string | undefined;
  /** Base URL: tasks go to `{rest}/tasks`. */
  readonly rest?: string | undefined;
  /** Where it speaks A2A (JSON-RPC), when its card says so. */
  readonly a2a?: string | undefined;
  /** The version of A2A that its card names for that address; found out when absent. */
  readonly a2aVersion?: '1.0' | '0.3' | undefined;
}

/** An agent as every replica holds it in memory. Times are milliseconds since the epoch. */
export interface Agent {
  readonly agentId: string;
  readonly registrationId: string;
  /** The subject of the token that registered it: only that one may change or speak for it. */
  readonly ownerId: string;
  readonly capabilities: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly endpoints: AgentEndpoints;
  readonly status: AgentStatus;
  /** 0..1, as reported, else as observed. */
  readonly load: number;
  readonly registeredAtMs: number;
  readonly lastSeenMs: number;
  /** Whether a failed call may be repeated elsewhere. */
  readonly isIdempotent: boolean;
  /** Ristretto255 key of its attestations, 0x hex; undefined until it is registered. */
  readonly publicKey: string | undefined;
  /** Ed25519 key of its votes, as JWK `x` (base64url); undefined when its votes carry no signature. */
  readonly voteKey: string | undefined;
}

/** Finds agents; answers come from memory. */
export interface AgentDirectory {
  find(agentId: string): Agent | undefined;
  /** Those that have all capabilities, the best first (two random ones compared by load each time). */
  candidates(capabilities: readonly string[]): readonly Agent[];
  readonly size: number;
  /** Notes how a call ended. */
  observe(agentId: string, seen: { readonly isFailure: boolean }): void;
  /** Notes which share, 0..1, of the tasks that an agent does at a time it is doing now. */
  occupy(agentId: string, share: number): void;
}
