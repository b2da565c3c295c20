import type { Service } from '../kit/service.ts';
import { workflowSettings } from './config.ts';
import { workflowContract } from './contract.ts';
import { mcpEnvelope } from '../kit/mcp/mcp-envelope.ts';

/** Workflow runs flows of models, agents, tools and people, and finishes what it began. */
export const workflow = {
  contract: workflowContract,
  envelope: mcpEnvelope,
  rate: { perMinute: 200, burst: 300 },
  settings: workflowSettings,
  migrations: new URL('./migrations/', import.meta.url),
  // Its nodes call tools and agents, and search the chats of whoever they run for.
  grants: ['registry:call', 'mesh:communicate', 'agent:execute', 'chat:admin'],
  load: () => import('./start.ts'),
} satisfies Service<typeof workflowContract, typeof workflowSettings>;
