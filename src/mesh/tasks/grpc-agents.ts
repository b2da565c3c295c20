import { Fault, type Code } from '../../kit/errors.ts';
import type { Agent } from '../agents/agent.ts';
import {
  agentErrorOf,
  notStarted,
  outcomeUnknown,
  shortText,
  taskRefused,
  type AgentCall,
  type AgentCaller,
} from './caller.ts';
import type { Task } from './task.ts';
import { deadlineFault } from './task-record.ts';

export interface GrpcTaskCall {
  /** `host:port` */
  readonly endpoint: string;
  readonly agentId: string;
  /** Whose the agent is: its certificate must be issued to the same. */
  readonly ownerId: string;
  readonly task: Task;
  readonly traceparent: string;
  readonly signal: AbortSignal;
}

/** What an agent answered; what it left out is absent. */
export interface GrpcAnswer {
  readonly status?: string;
  readonly result?: unknown;
}

/** Has a task done over gRPC with mutual TLS; the server must prove that it is that agent. */
export interface GrpcCaller {
  /**
   * Rejects with a Fault. `unavailable` says that the agent had not begun, unless its reason is
   * `connection_lost`; the signal's abort cancels the call.
   */
  execute(call: GrpcTaskCall): Promise<GrpcAnswer>;
}

const refusals: ReadonlySet<Code> = new Set<Code>([
  'invalid',
  'not_found',
  'forbidden',
  'unauthenticated',
  'conflict',
  'unimplemented',
]);

/** Calls agents that take tasks as `AgentCommunication.ExecuteTask`. */
export class GrpcAgents implements AgentCaller {
  readonly #grpc: GrpcCaller;

  constructor(grpc: GrpcCaller) {
    this.#grpc = grpc;
  }

  async execute(call: AgentCall): Promise<unknown> {
    return resultOf(call.agent, await this.#ask(call));
  }

  /** The abort of the call has told the agent already. */
  async cancel(): Promise<void> {}

  async #ask({ agent, task, traceparent, signal }: AgentCall): Promise<GrpcAnswer> {
    const { agentId, ownerId, endpoints } = agent;
    const endpoint = endpoints.grpc ?? '';
    try {
      return await this.#grpc.execute({ endpoint, agentId, ownerId, task, traceparent, signal });
    } catch (error) {
      signal.throwIfAborted();
      const cause = Fault.from(error);
      const { code, message, reason = 'agent_failed', detail } = cause;
      if (code === 'unavailable' && reason !== 'connection_lost') {
        throw notStarted(agent, 'agent_unreachable', { cause });
      }
      if (code === 'deadline') throw deadlineFault(task.taskId);
      if (code === 'exhausted') throw notStarted(agent, 'agent_busy', { cause });
      const options = { cause, reason, detail };
      if (refusals.has(code)) {
        throw taskRefused(agent, `the agent refused the task: ${message}`, options);
      }
      throw outcomeUnknown(agent, `the agent failed: ${message}`, options);
    }
  }
}

/** A result without a status is that of a completed task. */
function resultOf(agent: Agent, answer: GrpcAnswer): unknown {
  const { result, status = result === undefined ? undefined : 'completed' } = answer;
  if (status === 'completed') return result ?? null;
  const agentState = shortText(status);
  if (status !== 'failed' && status !== 'cancelled') {
    throw outcomeUnknown(agent, 'the agent answered without the end of the task', {
      reason: 'invalid_answer',
      detail: { ...(agentState && { agentState }) },
    });
  }
  const agentError = agentErrorOf(result) ?? shortText(result);
  throw taskRefused(agent, `the agent ended the task as ${status}`, {
    detail: { agentState, ...(agentError && { agentError }) },
  });
}
