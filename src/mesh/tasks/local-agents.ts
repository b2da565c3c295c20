import { Fault } from '../../kit/errors.ts';
import { taskRefused, type AgentCall, type AgentCaller } from './caller.ts';
import type { Task } from './task.ts';

export interface LocalContext {
  readonly signal: AbortSignal;
  readonly traceparent: string;
}

/** Does tasks inside this process; a Fault that it throws is the agent's failure. */
export type LocalWork = (task: Task, context: LocalContext) => Promise<unknown>;

/** Agents that live in this process, as on every replica, so that no call leaves it. */
export class LocalAgents implements AgentCaller {
  readonly #agents = new Map<string, LocalWork>();

  /** Has tasks of the agent done here; the answer ends that. */
  host(agentId: string, work: LocalWork): () => void {
    this.#agents.set(agentId, work);
    return () => {
      if (this.#agents.get(agentId) === work) this.#agents.delete(agentId);
    };
  }

  has(agentId: string): boolean {
    return this.#agents.has(agentId);
  }

  async execute({ agent, task, signal, traceparent }: AgentCall): Promise<unknown> {
    const work = this.#agents.get(agent.agentId);
    try {
      return await work?.(task, { signal, traceparent });
    } catch (error) {
      signal.throwIfAborted();
      const cause = Fault.from(error);
      const { reason = 'agent_failed', detail } = cause;
      throw taskRefused(agent, `the agent failed: ${cause.message}`, { cause, reason, detail });
    }
  }

  /** The abort has told the agent already. */
  async cancel(): Promise<void> {}
}
