import type { Identity } from '../../kit/identity/identity.ts';
import type { Resources } from '../agents/agent.ts';

export const taskTypes = ['code_generation', 'refactor', 'test', 'deploy'] as const;
export type TaskType = (typeof taskTypes)[number];

export const taskPriorities = ['low', 'normal', 'high', 'critical'] as const;
export type TaskPriority = (typeof taskPriorities)[number];

export const taskStatuses = ['queued', 'assigned', 'running', 'completed', 'failed'] as const;
/** A task that was called off is `failed` with the code `cancelled`. */
export type TaskStatus = (typeof taskStatuses)[number];

export interface TaskInput {
  readonly prompt?: string;
  /** What the template understands: files, a diff, a command. */
  readonly context?: Readonly<Record<string, unknown>>;
}

export interface TaskRequirements {
  readonly capabilities: readonly string[];
  readonly resources?: Resources;
  /** Of one attempt, milliseconds. */
  readonly timeoutMs: number;
}

/** Something that a task made: the agent's word for it, and where it lies or what it says. */
export type Artefact =
  | { readonly kind: 'file'; readonly path: string; readonly hash?: string }
  | { readonly kind: 'diff'; readonly text: string }
  | { readonly kind: 'test_report'; readonly report: TestReport }
  | { readonly kind: 'findings'; readonly findings: readonly Finding[] }
  | { readonly kind: 'execution'; readonly executionId: string; readonly workflowId: string };

export interface TestReport {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** Of the test command; null when it was killed. */
  readonly exitCode: number | null;
  readonly durationMs: number;
  readonly cases: readonly {
    readonly name: string;
    readonly status: 'passed' | 'failed' | 'skipped';
    readonly message?: string;
  }[];
  /** The end of what it printed. */
  readonly output: string;
}

export interface Finding {
  readonly file: string;
  readonly line?: number;
  readonly severity: 'info' | 'warning' | 'error';
  readonly message: string;
}

/** What an agent's program answers the mesh for a task. */
export interface AgentAnswer {
  readonly text: string;
  readonly artefacts: readonly Artefact[];
  readonly usage?: { readonly promptTokens: number; readonly completionTokens: number };
  readonly model?: string;
}

/** What the studio sends an agent as a mesh task's `input`; its `type` is the mesh task's. */
export interface AgentTaskInput extends TaskInput {
  readonly studioTaskId: string;
  readonly workspaceId?: string;
  /** Of `test`: the workspace's command. */
  readonly testCommand?: readonly string[];
  /** Of the workspace's settings. */
  readonly model?: string;
  readonly tools?: readonly string[];
}

/** What of the workspace's settings goes with a task, as they were when it was given. */
export interface WorkspaceExtras {
  readonly testCommand?: readonly string[];
  readonly model?: string;
  readonly tools?: readonly string[];
  readonly deployWorkflow?: string;
}

export interface TaskFailure {
  /** As the contract lists them. */
  readonly code: string;
  readonly message: string;
}

export interface StudioTask {
  /** `tsk_…` */
  readonly id: string;
  readonly type: TaskType;
  readonly priority: TaskPriority;
  readonly requirements: TaskRequirements;
  readonly input: TaskInput;
  readonly status: TaskStatus;
  readonly ownerId: string;
  readonly workspaceId?: string;
  /** The only agent that may do it; absent: any that can. */
  readonly wantedAgent?: string;
  readonly assignedAgent?: string;
  readonly attempt: number;
  readonly result?: Omit<AgentAnswer, 'artefacts'>;
  readonly artefacts?: readonly Artefact[];
  readonly failure?: TaskFailure;
  /** Why a queued one has not begun; found out as it is read. */
  readonly waiting?: TaskWait;
  readonly createdAtMs: number;
  /** Of the last attempt. */
  readonly startedAtMs?: number;
  readonly endedAtMs?: number;
}

export const waitReasons = ['no_agent', 'agent_not_running', 'agents_busy'] as const;

export interface TaskWait {
  readonly reason: (typeof waitReasons)[number];
  readonly message: string;
}

export interface NewTask {
  readonly type: TaskType;
  readonly priority?: TaskPriority;
  readonly requirements?: Partial<TaskRequirements>;
  readonly input?: TaskInput;
  readonly workspaceId?: string;
  readonly wantedAgent?: string;
  /** Of one subject, the same key is the same task. */
  readonly idempotencyKey?: string;
  /** `traceparent` of whoever asks. */
  readonly traceparent?: string;
}

/** The tasks of all agents and workspaces; who may see the agent or the workspace sees them. */
export interface Tasks {
  /** Stored before it resolves. */
  add(identity: Identity, wanted: NewTask): Promise<StudioTask>;
  list(
    identity: Identity,
    query: {
      readonly agentId?: string;
      readonly workspaceId?: string;
      readonly status?: TaskStatus;
      readonly limit: number;
      readonly offset: number;
    },
  ): Promise<{ readonly tasks: readonly StudioTask[]; readonly total: number }>;
  /** `not_found` (`task_not_found`). */
  read(identity: Identity, id: string): Promise<StudioTask>;
  /** `conflict` (`task_finished`) when it has ended. */
  cancel(identity: Identity, id: string): Promise<StudioTask>;
  /** Those given to an agent and not ended, from memory. */
  counts(agentId: string): { readonly running: number; readonly queued: number };
  /** Cancels and forgets all of a workspace that is deleted. */
  removeWorkspace(workspaceId: string): Promise<void>;
  /**
   * Told of each change of state on every replica, without the task's `input`; without result and
   * artefacts too where these are large: who needs them reads the task.
   */
  listen(listener: (task: StudioTask) => void): () => void;
}
