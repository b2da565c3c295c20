export const priorities = ['low', 'normal', 'high', 'critical'] as const;
export type Priority = (typeof priorities)[number];

/** A task as it goes to an agent, whichever way. */
export interface Task {
  readonly taskId: string;
  readonly type: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly timeoutMs: number;
  readonly priority: Priority;
}

/** What an agent made of a task. */
export interface TaskOutcome {
  readonly taskId: string;
  readonly status: 'completed';
  readonly result: unknown;
  readonly durationMs: number;
  readonly executedBy: string;
}

/** Who a task is for: one agent, when given only while it is this owner's, or any that is able. */
export type TaskTarget =
  | { readonly agentId: string; readonly ownerId?: string | undefined }
  | { readonly capability: string };

/** Has agents do tasks. */
export interface TaskRunner {
  /**
   * Resolves with what the agent answered. Rejects with a Fault: `not_found` (`agent_not_found`),
   * `unavailable` (unreachable, offline, none free), `upstream` (the agent failed), `deadline`,
   * `cancelled`.
   */
  run(target: TaskTarget, task: Omit<Task, 'taskId'>, options?: RunOptions): Promise<TaskOutcome>;
}

export interface RunOptions {
  /** The subject that asks. */
  readonly askedBy?: string;
  /** Of one subject, the same key gets the same outcome. */
  readonly idempotencyKey?: string | undefined;
  /** What requests with the same key must have in common; all that they say unless told. */
  readonly fingerprint?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** `traceparent` of whoever asks. */
  readonly traceparent?: string | undefined;
}
