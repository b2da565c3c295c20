import { Fault, type Code } from '../../kit/errors.ts';
import {
  notStarted,
  outcomeUnknown,
  taskRefused,
  type AgentCall,
  type AgentCaller,
} from './caller.ts';
import type { Task } from './task.ts';
import { deadlineFault } from './task-record.ts';

/** Has a task done over gRPC with mutual TLS; the server must prove that it is that agent. */
export interface GrpcCaller {
  /**
   * Rejects with a Fault. `unavailable` says that the agent had not begun, unless its reason is
   * `connection_lost`; the signal's abort cancels the call.
   */
  execute(endpoint: string, agentId: string, task: Task, signal: AbortSignal): Promise<unknown>;
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

  async execute({ agent, task, signal }: AgentCall): Promise<unknown> {
    try {
      return await this.#grpc.execute(agent.endpoints.grpc ?? '', agent.agentId, task, signal);
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

  /** The abort of the call has told the agent already. */
  async cancel(): Promise<void> {}
}
