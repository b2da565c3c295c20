import type { Handler } from '../../kit/http/call.ts';
import type { Doors } from '../aggregate/doors.ts';
import type { VirtualServers } from '../aggregate/virtual-servers.ts';
import { resultOf, type CalledTool, type Calls } from '../calls/calls.ts';
import type { callsRoutes as routes } from '../schemas/calls.ts';
import { virtualServerHandlers } from './virtual-servers.ts';

type CallsHandlers = { readonly [K in keyof typeof routes]: Handler<(typeof routes)[K]> };

export interface CallsHandlerParts {
  readonly calls: Calls;
  readonly doors: Doors;
  readonly virtualServers: VirtualServers;
  /** Where the service is reached. */
  readonly url: string;
}

/** The edge of calls, of the aggregated MCP server and of virtual servers. */
export function callsHandlers({
  calls,
  doors,
  virtualServers,
  url,
}: CallsHandlerParts): CallsHandlers {
  return {
    callConnection: async ({ params, body, signal, span }) =>
      toAnswer(
        await calls.call(params.connectionId, {
          tool: body.tool,
          input: body.arguments ?? {},
          timeoutMs: body.timeout,
          signal,
          parent: span.spanContext(),
        }),
      ),
    callCapability: async ({ params, body, signal, span }) =>
      toAnswer(
        await calls.callAnywhere(
          {
            tool: params.capability,
            input: body.arguments ?? {},
            timeoutMs: body.timeout,
            signal,
            parent: span.spanContext(),
          },
          { strategy: body.strategy, key: body.key },
        ),
      ),
    mcp: (call) => doors.handle(call, call.query.mode),
    mcpOfVirtualServer: (call) =>
      doors.handleVirtual(call.params.virtualServer, call, call.query.mode),
    ...virtualServerHandlers({ virtualServers, url }),
  };
}

function toAnswer({ connectionId, tool, outcome, durationMs }: CalledTool) {
  return {
    connectionId,
    tool,
    result: resultOf(outcome),
    content: [...outcome.content],
    isError: outcome.isError === true,
    duration: Math.round(durationMs * 1_000) / 1_000,
  };
}
