import type { AgentEndpoints } from '../agents/agent.ts';
import type { MeshCalls } from './mesh-calls.ts';
import type { TaskDesk } from './task-desk.ts';

/** What serving needs of the agent. */
export interface ServingAgent {
  readonly agentId: string;
  readonly calls: MeshCalls;
  readonly desk: TaskDesk;
}

/** A way in which tasks reach the agent, open until it is closed. */
export interface Serving {
  /** What registration says of it; none: tasks wait in the mesh’s inbox. */
  readonly endpoints: AgentEndpoints;
  /** Called once the agent is registered. */
  begin(): void;
  close(): Promise<void>;
}

export type OpenServing = (agent: ServingAgent) => Promise<Serving>;
