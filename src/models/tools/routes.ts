import type { Handler } from '../../kit/http/call.ts';
import type { McpEndpoint } from '../../kit/mcp/endpoint.ts';
import { callerOf } from '../inference/caller.ts';
import type { ModelsParts } from '../parts.ts';
import type { toolRoutes } from './contract.ts';
import { toListedModel } from './list-models.ts';
import { findTool, modelTools } from './tool-table.ts';

type ToolHandlers = { readonly [K in keyof typeof toolRoutes]: Handler<(typeof toolRoutes)[K]> };

/** The HTTP edge of the tools. */
export function toolHandlers(
  { inference }: Pick<ModelsParts, 'inference'>,
  mcp: McpEndpoint,
): ToolHandlers {
  const listed = modelTools.map(({ name, title, description, inputSchema, outputSchema }) => ({
    name,
    title,
    description,
    inputSchema,
    outputSchema,
  }));
  return {
    invoke: async (call) => {
      const { body, span } = call;
      const tool = findTool(body.tool);
      span.setAttribute('gen_ai.tool.name', tool.name);
      const caller = callerOf(call);
      const startedAt = performance.now();
      const result = await tool.run(body.input ?? {}, { inference, caller, report: () => {} });
      // Whole microseconds: what is behind them is the clock's own noise.
      const duration = Number((performance.now() - startedAt).toFixed(3));
      return { result: { ...result }, cost: 0, duration };
    },
    listTools: async () => ({
      tools: listed,
      models: (await inference.list()).map(toListedModel),
    }),
    mcp: (call) => mcp.handle(call),
  };
}
