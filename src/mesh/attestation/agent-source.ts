import type { Agent } from '../agents/agent.ts';

/** Where attestation learns of agents. */
export interface AgentSource {
  /** From memory. */
  find(agentId: string): Agent | undefined;
  /** Also one that another replica has registered a moment ago. */
  seek(agentId: string): Promise<Agent | undefined>;
}
