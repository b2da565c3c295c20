import type { Resources } from '../agents/agent.ts';
import type { OpenTask } from './stored-task.ts';

/** What an agent's tasks take of it together. */
export interface AgentLoad extends Resources {
  readonly count: number;
}

export const nothing: Resources = { cpu: 0, memory: 0 };
const idle: AgentLoad = { count: 0, ...nothing };

/** What the tasks that agents do take of them. */
export class AgentLoads {
  readonly #loads = new Map<string, AgentLoad>();

  of(agentId: string): AgentLoad {
    return this.#loads.get(agentId) ?? idle;
  }

  add(agentId: string, { requirements: { resources = nothing } }: OpenTask): void {
    const { count, cpu, memory } = this.of(agentId);
    this.#loads.set(agentId, {
      count: count + 1,
      cpu: cpu + resources.cpu,
      memory: memory + resources.memory,
    });
  }

  remove(agentId: string, { requirements: { resources = nothing } }: OpenTask): void {
    const { count, cpu, memory } = this.of(agentId);
    if (count <= 1) this.#loads.delete(agentId);
    else {
      this.#loads.set(agentId, {
        count: count - 1,
        cpu: cpu - resources.cpu,
        memory: memory - resources.memory,
      });
    }
  }
}
