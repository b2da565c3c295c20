import type {
  CallToolRequest,
  McpHttpHandler,
  Server,
  ServerContext,
} from '@modelcontextprotocol/server';
import type { IncomingHttpHeaders } from 'node:http';
import { Fault } from '../errors.ts';
import type { Call } from '../http/call.ts';
import { newId } from '../ids.ts';
import type { Log } from '../log.ts';
import { refuseForeign } from './foreign-origin.ts';
import { OpenCalls, type CallKey } from './open-calls.ts';
import type { CallToolResult, McpCaller, McpProgress, McpTools } from './tools.ts';

export interface McpOptions {
  readonly name: string;
  readonly title: string;
  readonly version: string;
  /** What a model should know before it uses the tools. */
  readonly instructions: string;
  /** Where the service is reached: only pages of that host may call. */
  readonly url: string;
  readonly tools: McpTools;
  readonly log: Log;
}

/** What of a call the endpoint needs. */
export interface McpRequest extends Pick<
  Call,
  'headers' | 'identity' | 'requestId' | 'span' | 'signal'
> {
  /** The parsed JSON, unchecked. */
  readonly body: unknown;
}

type Sdk = typeof import('@modelcontextprotocol/server');

/** Of messages in one request, which clients before 2025-06-18 may send. */
const batchMax = 16;

const sessionHeader = 'mcp-session-id';
const sessionPattern = /^[\w-]{1,64}$/;

/**
 * An MCP server over streamable HTTP, for clients of the stateless protocol (2026-07-28) and of the
 * ones before it. It keeps nothing between requests but the calls that are running. The session that
 * older clients get only tells their calls apart, so any process can serve any request.
 */
export class McpEndpoint implements AsyncDisposable {
  readonly #options: McpOptions;
  readonly #calls = new OpenCalls();
  #handler: Promise<McpHttpHandler> | undefined;

  constructor(options: McpOptions) {
    this.#options = options;
  }

  /** Answers a message; Fault `forbidden` when a page of another site sends it. */
  async handle(request: McpRequest): Promise<Response> {
    refuseForeign(request.headers, this.#options.url);
    refuseLargeBatch(request.body);
    const session = sessionOf(request.headers);
    const method = methodOf(request.body);
    if (method) request.span.setAttribute('mcp.method.name', method);
    if (method === 'notifications/cancelled') this.#cancel(request, session);
    const handler = await (this.#handler ??= this.#open());
    const response = await handler.fetch(toWebRequest(request, this.#options.url), {
      parsedBody: request.body,
      authInfo: {
        token: '',
        clientId: request.identity.subject,
        scopes: [],
        extra: { sender: new Sender(request, session) },
      },
    });
    if (method === 'initialize' && response.ok) response.headers.set(sessionHeader, newId('mcp'));
    return response;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.#handler)?.close();
  }

  /** The SDK takes a quarter of a second to load: only who is spoken to in MCP pays for it. */
  async #open(): Promise<McpHttpHandler> {
    const sdk = await import('@modelcontextprotocol/server');
    return sdk.createMcpHandler(() => this.#createServer(sdk), {
      onerror: (err) => this.#options.log.debug({ err }, 'mcp'),
    });
  }

  #createServer(sdk: Sdk): Server {
    const { name, title, version, instructions, tools } = this.#options;
    const server = new sdk.Server(
      { name, title, version },
      { capabilities: { tools: {} }, instructions },
    );
    server.setRequestHandler('tools/list', async (_request, context) => ({
      tools: [...(await tools.list(senderOf(context).caller))],
    }));
    server.setRequestHandler('tools/call', async ({ params }, context) =>
      this.#call(sdk, params, context),
    );
    return server;
  }

  async #call(
    sdk: Sdk,
    { name, arguments: input = {} }: CallToolRequest['params'],
    context: ServerContext,
  ): Promise<CallToolResult> {
    const { caller, session } = senderOf(context);
    const { id, signal } = context.mcpReq;
    const key = session ? keyOf(caller, session, id) : undefined;
    caller.span.setAttribute('gen_ai.tool.name', name);
    try {
      return await this.#calls.run(key, signal, (running) =>
        this.#options.tools.call(name, input, {
          ...caller,
          signal: running,
          report: reporterOf(context),
        }),
      );
    } catch (error) {
      const fault = this.#record(error, caller);
      if (fault.reason !== 'tool_not_found') return toolFailure(fault);
      throw new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, fault.message);
    }
  }

  #record(error: unknown, { requestId }: McpCaller): Fault {
    const fault = Fault.from(error);
    if (fault.code === 'internal') {
      this.#options.log.error({ err: fault.cause ?? fault, requestId }, 'internal error');
    }
    return fault;
  }

  #cancel({ body, identity }: McpRequest, session: string | undefined): void {
    const { params } = body as { params?: { requestId?: unknown } };
    const id = params?.requestId;
    if (!session || (typeof id !== 'string' && typeof id !== 'number')) return;
    this.#calls.cancel({ subject: identity.subject, session, id });
  }
}

/** The answer of a tool that failed, in words that the calling model can act on. */
function toolFailure(fault: Fault): CallToolResult {
  return { content: [{ type: 'text', text: fault.message }], isError: true };
}

/** Travels through the SDK from the HTTP request to the tool. */
class Sender {
  readonly caller: McpCaller;
  readonly session: string | undefined;

  constructor({ identity, requestId, span }: McpCaller, session: string | undefined) {
    this.caller = { identity, requestId, span };
    this.session = session;
  }
}

function senderOf(context: ServerContext): Sender {
  const sender = context.http?.authInfo?.extra?.['sender'];
  if (sender instanceof Sender) return sender;
  throw new Error('the message came without its sender');
}

function keyOf({ identity }: McpCaller, session: string, id: string | number): CallKey {
  return { subject: identity.subject, session, id };
}

function reporterOf({ mcpReq }: ServerContext): (progress: McpProgress) => void {
  const { _meta: meta } = mcpReq;
  const progressToken = meta?.progressToken;
  if (progressToken === undefined) return () => {};
  return (progress) => {
    const params = { progressToken, ...progress };
    // A caller who has gone needs no progress; the signal says so already.
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {});
  };
}

/** The rate limit counts requests: a batch must not carry any number of calls past it. */
function refuseLargeBatch(body: unknown): void {
  if (!Array.isArray(body) || body.length <= batchMax) return;
  throw new Fault('invalid', `a batch has at most ${batchMax} messages`);
}

function sessionOf(headers: IncomingHttpHeaders): string | undefined {
  const session = headers[sessionHeader];
  return typeof session === 'string' && sessionPattern.test(session) ? session : undefined;
}

function methodOf(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null || !('method' in body)) return undefined;
  return typeof body.method === 'string' ? body.method : undefined;
}

/** Of the headers only those that MCP reads: the credential stays behind. */
function toWebRequest({ headers, signal }: McpRequest, url: string): Request {
  const kept = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === 'string' && isMcpHeader(name)) kept.set(name, value);
  }
  return new Request(`${url}/mcp`, { method: 'POST', headers: kept, signal });
}

function isMcpHeader(name: string): boolean {
  return name === 'accept' || name === 'content-type' || name.startsWith('mcp-');
}
