import type { Caller } from '../caller.ts';

export type StepStatus = 'pending' | 'running' | 'completed' | 'failed' | 'cancelled';
export type OrchestrationStatus = 'running' | 'completed' | 'partial' | 'failed' | 'cancelled';

export interface OrchestrationRequest {
  readonly task: string;
  /** Ids, names or capabilities of agents. */
  readonly agents: readonly string[];
  readonly context?: Readonly<Record<string, unknown>>;
  /** At once, or one after the other with the results so far in the context. */
  readonly isParallel: boolean;
  /** Of the whole. */
  readonly timeoutMs: number;
  /** Of the request that it came with. */
  readonly traceparent?: string | undefined;
}

/** One agent's part. */
export interface OrchestrationStep {
  readonly agentId: string;
  readonly name: string;
  readonly status: StepStatus;
  /** The mesh's task, once it was handed over. */
  readonly taskId?: string;
  readonly result?: unknown;
  readonly error?: { readonly code: string; readonly message: string };
  readonly startedAtMs?: number;
  readonly endedAtMs?: number;
}

export interface Orchestration {
  /** `orc_…` */
  readonly id: string;
  readonly ownerId: string;
  readonly task: string;
  /** `partial`: some steps completed and others did not. */
  readonly status: OrchestrationStatus;
  /** 0…1: the steps that ended. */
  readonly progress: number;
  readonly steps: readonly OrchestrationStep[];
  readonly createdAtMs: number;
  readonly endedAtMs?: number;
}

/** What whoever watches an agent is told. */
export interface AgentProgress {
  readonly agentId: string;
  readonly taskId: string;
  /** 0…1. */
  readonly progress: number;
  readonly status: StepStatus;
  readonly message: string;
  /** Only its owner may see it; absent where everybody may who reads the mesh. */
  readonly ownerId?: string;
}

export interface Orchestrations {
  /** Stored before it resolves; `not_found` (`agent_not_found`) when nobody answers to a name. */
  start(caller: Caller, request: OrchestrationRequest): Promise<Orchestration>;
  find(ownerId: string, id: string): Promise<Orchestration>;
  list(
    ownerId: string,
    page: { readonly limit: number; readonly offset: number },
  ): Promise<{ readonly orchestrations: readonly Orchestration[]; readonly total: number }>;
  /** Ends what has not ended; what did end stays. */
  cancel(ownerId: string, id: string): Promise<Orchestration>;
  /** Told on every replica. */
  listen(listener: (progress: AgentProgress) => void): () => void;
}

export interface AgentHealth {
  readonly status: string;
  /** Seconds. */
  readonly uptime: number;
  readonly requestCount: number;
  /** 0…1. */
  readonly errorRate: number;
  /** Milliseconds, tasks a minute, tokens. */
  readonly metrics: {
    readonly latency: number;
    readonly throughput: number;
    readonly tokenUsage: number;
  };
}

export interface AgentHealths {
  /** Measured by the mesh and the tracer; `not_found` (`agent_not_found`). */
  find(caller: Caller, agentId: string): Promise<AgentHealth>;
}
