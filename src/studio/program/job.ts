import { Fault } from '../../kit/errors.ts';
import type { AgentTaskInput } from '../tasks/task.ts';
import type { Model } from './suite/model.ts';
import type { RegistryTools } from './suite/registry-tools.ts';
import type { WorkspaceDoor } from './suite/workspace-door.ts';

/** The workspace of a job. */
export interface JobWorkspace {
  readonly door: WorkspaceDoor;
  /** Where it lies for this process; absent where it has only the door. */
  readonly folder?: string;
  /** What the workspace's settings say now, whatever the task says. */
  readonly testCommand: () => Promise<readonly string[] | undefined>;
}

/** One task on its way through a template. */
export interface Job {
  readonly type: string;
  readonly input: AgentTaskInput;
  /** Absent for an agent without one, and for tasks that others than the studio gave. */
  readonly workspace?: JobWorkspace;
  readonly model: Model;
  readonly tools: RegistryTools;
  /** Milliseconds that are left. */
  readonly timeLeftMs: () => number;
  /** Aborted when the task is called off, out of time, or the agent ends. */
  readonly signal: AbortSignal;
  /** A line of the agent's log about what is being done. */
  readonly tell: (progress: string) => void;
}

/** The prompt; Fault `invalid` when there is none. */
export function promptOf({ input, type }: Job): string {
  const { prompt = '' } = input;
  if (prompt.trim() !== '') return prompt;
  throw new Fault('invalid', `A task of the type ${type} needs input.prompt.`);
}

/** The workspace; Fault `invalid` when there is none. */
export function workspaceOf({ workspace, type }: Job): JobWorkspace {
  if (workspace) return workspace;
  throw new Fault('invalid', `A task of the type ${type} needs an agent in a workspace.`);
}

/** The name of a template in a sentence. */
export function withArticle(template: string): string {
  return `${/^[aeiou]/.test(template) ? 'an' : 'a'} ${template}`;
}

/** The refusal of a type that a template does not do. */
export function cannotDo(template: string, type: string, able: string): Fault {
  return new Fault(
    'unimplemented',
    `This agent is ${withArticle(template)} and cannot do tasks of the type ${type}: give it to ${able}.`,
  );
}
