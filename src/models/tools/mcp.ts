import { McpEndpoint } from '../../kit/mcp/endpoint.ts';
import type { CallToolResult, McpTools, Tool } from '../../kit/mcp/tools.ts';
import type { Host } from '../../kit/service.ts';
import type { Inference } from '../inference/inference.ts';
import type { ModelTool, ToolResult } from './tool.ts';
import { findTool, modelTools } from './tool-table.ts';

const instructions =
  'Local models: they cost nothing and their data stays on this machine. ' +
  'list_models names the models; every other tool takes the default one where none is named.';

/** The tools of models as an MCP server. */
export function createMcpEndpoint(
  inference: Inference,
  { url, log }: Pick<Host<unknown>, 'url' | 'log'>,
  version: string,
): McpEndpoint {
  return new McpEndpoint({
    name: 'ennead-models',
    title: 'Ennead Models',
    version,
    instructions,
    url,
    tools: mcpTools(inference),
    log,
  });
}

function mcpTools(inference: Inference): McpTools {
  const listed = modelTools.map(toMcpTool);
  return {
    list: () => listed,
    call: async (name, input, { identity, signal, report }) => {
      const caller = { subject: identity.subject, signal };
      return toMcpResult(await findTool(name).run(input, { inference, caller, report }));
    },
  };
}

function toMcpTool({ name, title, description, inputSchema, outputSchema }: ModelTool): Tool {
  return {
    name,
    title,
    description,
    inputSchema: { type: 'object', ...inputSchema },
    outputSchema: { type: 'object', ...outputSchema },
    annotations: { readOnlyHint: true, destructiveHint: false, openWorldHint: false },
  };
}

/** Whoever reads the text alone sees the calls too. */
export function toMcpResult(result: ToolResult): CallToolResult {
  const { output, toolCalls = [] } = result;
  const text = typeof output === 'string' ? output : JSON.stringify(output);
  const calls = toolCalls.length > 0 ? [JSON.stringify({ toolCalls })] : [];
  const texts = text === '' && calls.length > 0 ? calls : [text, ...calls];
  return {
    content: texts.map((one) => ({ type: 'text', text: one })),
    structuredContent: { ...result },
  };
}
