import type { Host } from '../kit/service.ts';
import type { WorkflowConfig } from './config.ts';
import { workflowContract } from './contract.ts';
import { openParts } from './parts.ts';
import { workflowServiceHandlers, workflowSocketHandlers } from './routes/routes.ts';

export async function start(host: Host<WorkflowConfig>): Promise<AsyncDisposable> {
  const parts = await openParts(host);
  host.http.serve(workflowContract, workflowServiceHandlers(parts));
  host.http.serveSockets(workflowContract, workflowSocketHandlers(parts));
  return parts;
}
