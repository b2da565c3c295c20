import type { Server, ServerContext, ServerOptions } from '@modelcontextprotocol/server';
import { Fault } from '../errors.ts';
import type { Log } from '../log.ts';
import { textOf } from './direct-calls.ts';
import { McpError, mcpCodes } from './mcp-error.ts';
import type { McpCaching, McpCompletions, McpPrompts, McpResources } from './offers.ts';
import type { OpenCalls } from './open-calls.ts';
import { Sender } from './sender.ts';
import type { CallToolResult, McpCallContext, McpCaller, McpProgress, McpTools } from './tools.ts';

/** What an MCP server has; what is absent, its clients do not see it announce. */
export interface McpFeatures {
  readonly tools: McpTools;
  readonly prompts?: McpPrompts | undefined;
  readonly resources?: McpResources | undefined;
  readonly completions?: McpCompletions | undefined;
  /** Without it answers do not hold at all. */
  readonly caching?: McpCaching | undefined;
  /** The lists change, and `McpEndpoint.tellChanged` is called when they do. */
  readonly isChanging?: boolean | undefined;
}

export interface McpMethodParts extends McpFeatures {
  readonly calls: OpenCalls;
  readonly log: Log;
}

type Era = 'legacy' | 'modern';

/**
 * What the server announces. Clients of the older protocol cannot be told of changes: that needs a
 * stream that belongs to a session.
 */
export function capabilitiesOf(features: McpFeatures, era: Era): ServerOptions['capabilities'] {
  const list = features.isChanging && era === 'modern' ? { listChanged: true } : {};
  return {
    tools: list,
    ...(features.prompts ? { prompts: list } : {}),
    ...(features.resources ? { resources: list } : {}),
    ...(features.completions ? { completions: {} } : {}),
  };
}

/** How long its answers hold, by method. */
export function cacheHintsOf({ caching }: McpFeatures): ServerOptions['cacheHints'] {
  if (!caching) return {};
  const hint = { ttlMs: caching.ttlMs, cacheScope: caching.scope };
  return {
    'tools/list': hint,
    'prompts/list': hint,
    'resources/list': hint,
    'resources/templates/list': hint,
    'server/discover': hint,
  };
}

/** Has a server answer the methods of what it announces. */
export function setMethods(server: Server, parts: McpMethodParts): void {
  setToolMethods(server, parts);
  if (parts.prompts) setPromptMethods(server, parts, parts.prompts);
  if (parts.resources) setResourceMethods(server, parts, parts.resources);
  if (parts.completions) setCompletionMethod(server, parts, parts.completions);
}

function setToolMethods(server: Server, parts: McpMethodParts): void {
  const { tools } = parts;
  server.setRequestHandler('tools/list', async ({ params }, context) => {
    const listed = await tools.list(Sender.of(context).caller, params?.cursor);
    if ('tools' in listed) return { ...listed, tools: [...listed.tools] };
    refuseCursor(params?.cursor);
    return { tools: [...listed] };
  });
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const { name, arguments: input = {} } = params;
    const { caller } = Sender.of(context);
    caller.span.setAttribute('gen_ai.tool.name', name);
    return answerTool(parts, caller, () =>
      run(parts, context, (running) => tools.call(name, input, running)),
    );
  });
}

/** Of a list that comes all at once: no page of it has a cursor. */
function refuseCursor(cursor: string | undefined): void {
  if (cursor === undefined) return;
  throw new McpError(mcpCodes.invalidParams, 'there is no page with this cursor');
}

/** What a tool answers, or how it failed; rejects with an `McpError` where the protocol says so. */
export async function answerTool(
  parts: Pick<McpMethodParts, 'log'>,
  caller: McpCaller,
  call: () => Promise<CallToolResult>,
): Promise<CallToolResult> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof McpError) throw error;
    const fault = faultOf(parts, error, caller);
    if (fault.reason !== 'tool_not_found') return toolFailure(fault);
    throw new McpError(mcpCodes.invalidParams, fault.message);
  }
}

function setPromptMethods(server: Server, parts: McpMethodParts, prompts: McpPrompts): void {
  server.setRequestHandler('prompts/list', async ({ params }, context) => {
    refuseCursor(params?.cursor);
    return { prompts: [...(await prompts.list(Sender.of(context).caller))] };
  });
  server.setRequestHandler('prompts/get', ({ params }, context) =>
    answer(parts, context, (running) => prompts.get(params.name, params.arguments ?? {}, running)),
  );
}

function setResourceMethods(server: Server, parts: McpMethodParts, resources: McpResources): void {
  server.setRequestHandler('resources/list', async ({ params }, context) => {
    refuseCursor(params?.cursor);
    return { resources: [...(await resources.list(Sender.of(context).caller))] };
  });
  server.setRequestHandler('resources/templates/list', async ({ params }, context) => {
    refuseCursor(params?.cursor);
    return { resourceTemplates: [...(await resources.listTemplates(Sender.of(context).caller))] };
  });
  server.setRequestHandler('resources/read', ({ params }, context) =>
    answer(parts, context, (running) => resources.read(params.uri, running)),
  );
}

function setCompletionMethod(
  server: Server,
  parts: McpMethodParts,
  completions: McpCompletions,
): void {
  server.setRequestHandler('completion/complete', ({ params }, context) =>
    answer(parts, context, (running) => completions.complete(params, running)),
  );
}

async function answer<T>(
  parts: McpMethodParts,
  context: ServerContext,
  work: (context: McpCallContext) => Promise<T>,
): Promise<T> {
  try {
    return await run(parts, context, work);
  } catch (error) {
    if (error instanceof McpError) throw error;
    throw faultError(faultOf(parts, error, Sender.of(context).caller));
  }
}

/** Runs a call so that a cancellation, which comes as a message of its own, finds it. */
async function run<T>(
  { calls }: McpMethodParts,
  context: ServerContext,
  work: (context: McpCallContext) => Promise<T>,
): Promise<T> {
  const { caller, session, leave } = Sender.of(context);
  const { id, signal, _meta: meta } = context.mcpReq;
  const key = session ? { subject: caller.identity.subject, session, id } : undefined;
  const reporter = new Reporter(context);
  const result = await calls.run(key, { signal, leave }, (running) =>
    work({
      ...caller,
      signal: running,
      traceparent: textOf(meta?.['traceparent']),
      tracestate: textOf(meta?.['tracestate']),
      isReported: reporter.isAskedFor,
      report: (progress) => reporter.report(progress),
    }),
  );
  await reporter.settled;
  return result;
}

/** Tells a caller who asked for it how far a call is. */
class Reporter {
  /** Resolves when all that was reported is on its way: the answer, which ends them, comes after. */
  settled: Promise<unknown> = Promise.resolve();
  readonly #notify: ServerContext['mcpReq']['notify'];
  readonly #progressToken: string | number | undefined;

  constructor({ mcpReq: { notify, _meta: meta } }: ServerContext) {
    this.#notify = notify;
    this.#progressToken = meta?.progressToken;
  }

  get isAskedFor(): boolean {
    return this.#progressToken !== undefined;
  }

  report(progress: McpProgress): void {
    const progressToken = this.#progressToken;
    if (progressToken === undefined) return;
    const params = { progressToken, ...progress };
    const sent = this.#notify({ method: 'notifications/progress', params });
    // A caller who has gone needs no progress; the signal says so already.
    this.settled = Promise.allSettled([this.settled, sent]);
  }
}

function faultOf(
  { log }: Pick<McpMethodParts, 'log'>,
  error: unknown,
  { requestId }: McpCaller,
): Fault {
  const fault = Fault.from(error);
  if (fault.code === 'internal') {
    log.error({ err: fault.cause ?? fault, requestId }, 'internal error');
  }
  return fault;
}

/** The answer of a tool that failed, in words that the calling model can act on. */
function toolFailure(fault: Fault): CallToolResult {
  return { content: [{ type: 'text', text: fault.message }], isError: true };
}

function faultError(fault: Fault): McpError {
  const code = (fault.reason ?? fault.code).toUpperCase();
  return new McpError(codeOf(fault), fault.message, { ...fault.detail, code });
}

function codeOf({ code }: Fault): number {
  if (code === 'invalid' || code === 'not_found') return mcpCodes.invalidParams;
  return code === 'internal' ? mcpCodes.internal : mcpCodes.server;
}
