import { McpEndpoint } from '../../kit/mcp/endpoint.ts';
import type { Host } from '../../kit/service.ts';
import { WorkflowTools, type WorkflowToolsOptions } from './workflow-tools.ts';

const instructions =
  'Workflows of this installation. Each tool runs one to its end and answers the outputs of its ' +
  'last steps by their ids. Giving a call up cancels its execution.';

/** Active workflows as an MCP server. */
export function createMcpEndpoint(
  options: WorkflowToolsOptions,
  { url, log }: Pick<Host<unknown>, 'url' | 'log'>,
  version: string,
): McpEndpoint {
  return new McpEndpoint({
    name: 'ennead-workflow',
    title: 'Ennead Workflow',
    version,
    instructions,
    url,
    tools: new WorkflowTools(options),
    log,
  });
}
