import type { Resources } from '../../agents/agent.ts';
import type { AgentAnswer, TaskType } from '../../tasks/task.ts';
import type { Job } from '../job.ts';

/** A kind of agent: what is told of it, what it takes, and how it works. */
export interface Template {
  readonly name: string;
  readonly description: string;
  /** Of an agent that is spawned without any. */
  readonly capabilities: readonly string[];
  /** Of an agent that is spawned without any. */
  readonly resources: Resources;
  /** Tasks at the same time. */
  readonly concurrency: number;
  /** The studio's types that it does; the mesh may ask for others. */
  readonly taskTypes: readonly TaskType[];
  /** Does a task; rejects with a Fault whose message is for who asked. */
  readonly perform: (job: Job) => Promise<AgentAnswer>;
}
