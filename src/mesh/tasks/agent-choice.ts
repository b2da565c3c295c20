import { Fault } from '../../kit/errors.ts';
import type { Agent, AgentDirectory } from '../agents/agent.ts';
import { AgentQueue, type QueueLimits } from './agent-queue.ts';
import type { TaskTarget } from './task.ts';
import { agentOfflineFault } from './task-record.ts';

export interface ChoiceOptions {
  readonly directory: Pick<AgentDirectory, 'find' | 'candidates' | 'occupy'>;
  /** Tasks that may wait for one agent on this replica; 1,000 unless told. */
  readonly queueLengthMax?: number | undefined;
  /** Tasks of an agent at the same time, where its metadata has no `maxConcurrency`; 32 unless told. */
  readonly concurrency?: number | undefined;
}

const concurrencyMax = 1_000;

/** Finds the agent for a task, and knows what waits for each. */
export class AgentChoice {
  readonly #options: ChoiceOptions;
  readonly #queues = new Map<string, AgentQueue>();

  constructor(options: ChoiceOptions) {
    this.#options = options;
  }

  /**
   * The agent that the task goes to next; of a capability one that was not tried, and neither busy nor
   * draining. Throws `not_found` (`agent_not_found`) or `unavailable`; undefined when all were tried.
   */
  choose(target: TaskTarget, tried: ReadonlySet<string>): Agent | undefined {
    if ('agentId' in target) return this.#named(target.agentId);
    const { capability } = target;
    const able = this.#options.directory.candidates([capability]);
    if (able.length === 0) throw agentNotFound({ capability });
    const free = this.#firstFree(able, 'active', tried) ?? this.#firstFree(able, 'suspect', tried);
    if (free || tried.size > 0) return free;
    throw new Fault('unavailable', 'no agent with this capability is free', {
      reason: 'no_agent_free',
      detail: { capability },
      retryAfter: 1,
    });
  }

  /** Runs work when it is its turn at the agent. */
  async inTurn<T>(
    agent: Agent,
    {
      priority,
      signal,
    }: { readonly priority: Parameters<AgentQueue['enter']>[0]; readonly signal: AbortSignal },
    work: () => Promise<T>,
  ): Promise<T> {
    const { agentId } = agent;
    const queue = this.#queues.get(agentId) ?? new AgentQueue();
    this.#queues.set(agentId, queue);
    const limits = this.#limitsOf(agent);
    const note = () => {
      const share = Math.min(1, queue.runningCount / limits.concurrency);
      this.#options.directory.occupy(agentId, share);
    };
    await queue.enter(priority, limits, signal);
    note();
    try {
      return await work();
    } finally {
      queue.leave();
      note();
      if (queue.isIdle && this.#queues.get(agentId) === queue) this.#queues.delete(agentId);
    }
  }

  #named(agentId: string): Agent {
    const agent = this.#options.directory.find(agentId);
    if (!agent) throw agentNotFound({ agentId });
    if (agent.status !== 'offline') return agent;
    throw agentOfflineFault(agentId);
  }

  #firstFree(
    able: readonly Agent[],
    status: Agent['status'],
    tried: ReadonlySet<string>,
  ): Agent | undefined {
    return able.find(
      (agent) => agent.status === status && !tried.has(agent.agentId) && !this.#isFull(agent),
    );
  }

  #isFull(agent: Agent): boolean {
    return this.#queues.get(agent.agentId)?.isFull(this.#limitsOf(agent)) ?? false;
  }

  #limitsOf({ metadata }: Agent): QueueLimits {
    const { queueLengthMax = 1_000, concurrency = 32 } = this.#options;
    const wished = metadata['maxConcurrency'];
    const isWish = typeof wished === 'number' && Number.isInteger(wished) && wished > 0;
    return {
      concurrency: isWish ? Math.min(wished, concurrencyMax) : concurrency,
      lengthMax: queueLengthMax,
    };
  }
}

function agentNotFound(detail: Readonly<Record<string, string>>): Fault {
  return new Fault('not_found', 'there is no such agent', { reason: 'agent_not_found', detail });
}
