/** Something that happened on the mesh, as the stream tells it. */
export interface ActivityEvent {
  readonly eventId: string;
  /** `agent-registered`, `agent-status`, `agent-deregistered`, `task-executed`, `task-failed`, `task-cancelled`, `swarm-created`, `vote-cast`, `vote-conflict`, `swarm-decided`, `capability-attested`, `attestation-revoked`, `certificate-issued`. */
  readonly type: string;
  readonly agentId: string;
  /** ISO 8601. */
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Tells the world; never rejects and never waits. */
export interface Activity {
  tell(type: string, agentId: string, data: Readonly<Record<string, unknown>>): void;
}
