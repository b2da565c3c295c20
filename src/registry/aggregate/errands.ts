import type { CallToolResult } from '@modelcontextprotocol/client';
import { Fault } from '../../kit/errors.ts';
import { McpError } from '../../kit/mcp/mcp-error.ts';
import type {
  CompleteRequestParams,
  CompleteResult,
  GetPromptResult,
  ReadResourceResult,
} from '../../kit/mcp/offers.ts';
import type { McpCallContext } from '../../kit/mcp/tools.ts';
import { requirePermission } from '../../kit/permissions.ts';
import { parseTraceparent } from '../../kit/trace/trace-context.ts';
import { requireTool } from '../calls/agreed-tools.ts';
import { ArgumentChecks } from '../calls/arguments.ts';
import type { Errand, Exchanges, Wanted } from '../calls/exchange.ts';
import type { ExchangeOptions, Link } from '../links/link.ts';

/** A server's own thing: what an entry of a view stands for. */
export interface Target {
  readonly connectionId: string;
  readonly ownName: string;
}

const permissions = ['registry:call', 'agent:execute'];

/**
 * What those who speak MCP have servers do. Faults: `insufficient_permissions`, `invalid_arguments`, and
 * those of `Exchanges`; what a server refuses is an `McpError` with the server's own code and data.
 */
export class Errands {
  readonly #exchanges: Exchanges;
  readonly #checks = new ArgumentChecks();

  constructor(exchanges: Exchanges) {
    this.#exchanges = exchanges;
  }

  async callTool(
    { connectionId, ownName }: Target,
    input: Readonly<Record<string, unknown>>,
    context: McpCallContext,
  ): Promise<CallToolResult> {
    requirePermission(context.identity.permissions, permissions);
    const tool = requireTool(this.#exchanges.requireCallable(connectionId), ownName);
    if (tool) await this.#checks.require(tool, input);
    const wanted = { connectionId, method: 'tools/call', target: ownName } as const;
    return this.#run(wanted, context, (link, options) => link.callTool(ownName, input, options));
  }

  getPrompt(
    { connectionId, ownName }: Target,
    input: Readonly<Record<string, string>>,
    context: McpCallContext,
  ): Promise<GetPromptResult> {
    const wanted = { connectionId, method: 'prompts/get', target: ownName } as const;
    return this.#run(wanted, context, (link, options) => link.getPrompt(ownName, input, options));
  }

  readResource(
    connectionId: string,
    uri: string,
    context: McpCallContext,
  ): Promise<ReadResourceResult> {
    const wanted = { connectionId, method: 'resources/read', target: uri } as const;
    return this.#run(wanted, context, (link, options) => link.readResource(uri, options));
  }

  /** `request` names the prompt or the template as its server does. */
  complete(
    { connectionId, ownName }: Target,
    request: CompleteRequestParams,
    context: McpCallContext,
  ): Promise<CompleteResult> {
    const wanted = { connectionId, method: 'completion/complete', target: ownName } as const;
    return this.#run(wanted, context, (link, options) => link.complete(request, options));
  }

  async #run<T>(
    { connectionId, ...wanted }: Wanted & Pick<Target, 'connectionId'>,
    context: McpCallContext,
    work: (link: Link, options: ExchangeOptions) => Promise<T>,
  ): Promise<T> {
    requirePermission(context.identity.permissions, permissions);
    const connection = this.#exchanges.requireCallable(connectionId);
    try {
      return await this.#exchanges.run(connection, wanted, { ...errandOf(context), work });
    } catch (error) {
      throw asServerSaid(error);
    }
  }
}

function errandOf(context: McpCallContext): Errand {
  const { signal, span, traceparent, tracestate, isReported, report } = context;
  const said = parseTraceparent(traceparent);
  return {
    signal,
    // The message's own context is nearer to the caller than that of the request that carries it.
    parent: said ?? span.spanContext(),
    tracestate: said && tracestate,
    onProgress: isReported ? report : undefined,
  };
}

/** A refusal of the server's as it was said; anything else as it is. */
function asServerSaid(error: unknown): unknown {
  if (!(error instanceof Fault) || error.reason !== 'server_error') return error;
  const { code, message, data } = error.detail;
  if (typeof code !== 'number') return error;
  return new McpError(code, typeof message === 'string' ? message : error.message, data);
}
