import type { Host, Service } from '../kit/service.ts';
import { workflowSettings, type WorkflowConfig } from './config.ts';
import { workflowContract } from './contract.ts';
import { mcpEnvelope } from '../kit/mcp/mcp-envelope.ts';
import { openParts } from './parts.ts';
import { workflowServiceHandlers, workflowSocketHandlers } from './routes/routes.ts';

/** Workflow runs flows of models, agents, tools and people, and finishes what it began. */
export const workflow = {
  contract: workflowContract,
  envelope: mcpEnvelope,
  rate: { perMinute: 200, burst: 300 },
  settings: workflowSettings,
  migrations: new URL('./migrations/', import.meta.url),
  // Its nodes call tools and agents, and search the chats of whoever they run for.
  grants: ['registry:call', 'mesh:communicate', 'agent:execute', 'chat:admin'],
  start,
} satisfies Service<typeof workflowContract, typeof workflowSettings>;

async function start(host: Host<WorkflowConfig>): Promise<AsyncDisposable> {
  const parts = await openParts(host);
  host.http.serve(workflowContract, workflowServiceHandlers(parts));
  host.http.serveSockets(workflowContract, workflowSocketHandlers(parts));
  return parts;
}
