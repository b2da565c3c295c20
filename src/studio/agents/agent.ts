import type { Identity } from '../../kit/identity/identity.ts';

export const runtimeNames = ['local', 'docker', 'kubernetes'] as const;
export type RuntimeName = (typeof runtimeNames)[number];

export const agentStatuses = [
  'starting',
  'running',
  'restarting',
  'stopping',
  'stopped',
  'expired',
  'failed',
] as const;
/** `stopped`, `expired` (its `ttl` ended) and `failed` are final. */
export type AgentStatus = (typeof agentStatuses)[number];

/** Why an agent failed, or was started again. */
export const failureReasons = [
  'runtime_unavailable',
  'image_missing',
  'start_failed',
  'start_timeout',
  'exited',
  'out_of_memory',
  'too_many_processes',
  'lost',
  'restarts_exhausted',
] as const;
export type FailureReason = (typeof failureReasons)[number];

export interface AgentFailure {
  readonly reason: FailureReason;
  /** A sentence, with the last lines that the agent printed where there are any. */
  readonly message: string;
  readonly atMs: number;
}

/** What an agent may take, as numbers. */
export interface Resources {
  /** Cores: `500m` and `0.5` are 0.5. */
  readonly cpu: number;
  /** Bytes: `512Mi`, `1Gi`, `500M`. */
  readonly memory: number;
}

export interface Agent {
  /** `agt_…`, also its id on the mesh. */
  readonly id: string;
  readonly name: string;
  /** Any word; the known ones pick a template. */
  readonly type: string;
  readonly template: string;
  readonly status: AgentStatus;
  readonly capabilities: readonly string[];
  readonly runtime: RuntimeName;
  readonly workspaceId?: string;
  /** The subject that spawned it. */
  readonly ownerId: string;
  readonly resources: Resources;
  readonly createdAtMs: number;
  readonly startedAtMs?: number;
  readonly endedAtMs?: number;
  readonly expiresAtMs?: number;
  readonly restarts: number;
  /** The last one; kept when the agent was started again. */
  readonly failure?: AgentFailure;
}

export interface SpawnOptions {
  readonly type: string;
  readonly name?: string;
  readonly capabilities?: readonly string[];
  /** What is left out is the template's. */
  readonly resources?: Partial<Resources>;
  readonly runtime?: RuntimeName;
  readonly ttlSeconds?: number;
  readonly workspaceId?: string;
}

/** What an agent takes now, of all its processes together. */
export interface AgentUse {
  /** Cores, over the last moments. */
  readonly cpu: number;
  /** Bytes. */
  readonly memory: number;
}

export interface AgentHealth {
  readonly agent: Agent;
  /** Absent when it does not run. */
  readonly use?: AgentUse;
  /** By the mesh; absent when it never beat. */
  readonly lastHeartbeatMs?: number;
}

export interface LogLine {
  /** Rises by one a line of an agent, over restarts. */
  readonly seq: number;
  readonly atMs: number;
  readonly stream: 'stdout' | 'stderr' | 'studio';
  readonly text: string;
}

/**
 * The agents of all workspaces. An identity sees those it spawned and those of workspaces in which its
 * role has `agents:view`; the rest do not exist for it (`not_found`, `agent_not_found`).
 */
export interface Agents {
  /** Stored, then started; resolves when the mesh has heard it. Faults carry a FailureReason. */
  spawn(identity: Identity, options: SpawnOptions): Promise<Agent>;
  list(
    identity: Identity,
    query: {
      readonly workspaceId?: string;
      readonly status?: AgentStatus;
      readonly limit: number;
      readonly offset: number;
    },
  ): Promise<{ readonly agents: readonly Agent[]; readonly total: number }>;
  /** The agent, if the identity may do this with it. */
  require(
    identity: Identity,
    id: string,
    permission: 'view' | 'execute' | 'configure' | 'deploy',
  ): Promise<Agent>;
  /** For work of the service itself. */
  find(id: string): Promise<Agent | undefined>;
  /** Those that run and may be given tasks, from memory. */
  running(): readonly Agent[];
  stop(identity: Identity, id: string): Promise<Agent>;
  /** Stops it and forgets it with its logs. */
  remove(identity: Identity, id: string): Promise<void>;
  health(identity: Identity, id: string): Promise<AgentHealth>;
  /** Ends and forgets all of a workspace that is deleted. */
  removeWorkspace(workspaceId: string): Promise<void>;
  /** The workspace whose agent has this subject, for calls that agents make themselves. */
  workspaceOf(subject: string): string | undefined;
  /** Told of each change of status on every replica. */
  listen(listener: (agent: Agent) => void): () => void;
}
