import type { Code } from '../../kit/errors.ts';
import { Fault, type FaultOptions } from '../../kit/errors.ts';
import type { Agent } from '../agents/agent.ts';
import type { Task } from './task.ts';

/** One attempt to have one agent do a task. */
export interface AgentCall {
  readonly agent: Agent;
  readonly task: Task;
  readonly askedBy: string;
  /** Of the task's span. */
  readonly traceparent: string;
  readonly createdAtMs: number;
  /** Milliseconds since the epoch after which no answer is wanted. */
  readonly deadlineAtMs: number;
  /** Aborted with a Fault when nobody waits any longer. */
  readonly signal: AbortSignal;
  /** Told by callers that learn of an answer later than it came. */
  readonly noteFinished?: (atMs: number) => void;
}

/** Speaks with agents in one way. */
export interface AgentCaller {
  /** Resolves with the result; rejects with a CallFailure, or with the signal's reason. */
  execute(call: AgentCall): Promise<unknown>;
  /** Tells the agent that the task is called off; never rejects. */
  cancel(call: AgentCall): Promise<void>;
}

/**
 * How far an agent had come with a task that failed: `not-started` may be repeated anywhere, `unknown`
 * only where the agent says that repeating does no harm, `refused` nowhere.
 */
export type Progress = 'not-started' | 'unknown' | 'refused';

/** An attempt that failed. */
export class CallFailure extends Error {
  readonly fault: Fault;
  readonly progress: Progress;

  constructor(progress: Progress, fault: Fault) {
    super(fault.message, { cause: fault });
    this.progress = progress;
    this.fault = fault;
  }
}

/** The agent had not begun: it could not be reached, or says so itself. */
export function notStarted(agent: Agent, reason: string, options: FaultOptions = {}): CallFailure {
  const message =
    reason === 'agent_busy' ? 'the agent takes no task now' : 'the agent cannot be reached';
  return new CallFailure(
    'not-started',
    agentFault('unavailable', message, { agent, options: { ...options, reason } }),
  );
}

/** The agent failed, and may have done something before. */
export function outcomeUnknown(
  agent: Agent,
  message: string,
  options: FaultOptions = {},
): CallFailure {
  return new CallFailure(
    'unknown',
    agentFault('upstream', message, { agent, options: { reason: 'agent_failed', ...options } }),
  );
}

/** The agent answered that it does not do this task. */
export function taskRefused(
  agent: Agent,
  message: string,
  options: FaultOptions = {},
): CallFailure {
  return new CallFailure(
    'refused',
    agentFault('upstream', message, { agent, options: { reason: 'agent_failed', ...options } }),
  );
}

function agentFault(
  code: Code,
  message: string,
  { agent, options }: { readonly agent: Agent; readonly options: FaultOptions },
): Fault {
  const detail = { ...options.detail, agentId: agent.agentId };
  return new Fault(code, message, { ...options, detail });
}

/** What an agent's answer says of its failure, as `error` or `error.message`. */
export function agentErrorOf(body: unknown): string | undefined {
  const error = fieldOf(body, 'error');
  return shortText(error) ?? shortText(fieldOf(error, 'message'));
}

/** Whether a value is an object with a member of its own of this name. */
export function hasField(value: unknown, name: string): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name);
}

/** A member of what may be no object at all. */
export function fieldOf(value: unknown, name: string): unknown {
  return hasField(value, name) ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}

/** What an agent says of its failure, short enough to pass on. */
export function shortText(text: unknown): string | undefined {
  if (typeof text !== 'string' || text === '') return undefined;
  return text.slice(0, 500);
}
