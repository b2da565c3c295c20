import type { McpHttpHandler, Server } from '@modelcontextprotocol/server';
import type { IncomingHttpHeaders } from 'node:http';
import { Fault } from '../errors.ts';
import type { Call } from '../http/call.ts';
import { newId } from '../ids.ts';
import type { Log } from '../log.ts';
import type { WrittenBytes } from '../answers/written-json.ts';
import { DirectCalls, writeError, writeResult, type DirectCall } from './direct-calls.ts';
import { refuseForeign } from './foreign-origin.ts';
import { McpError } from './mcp-error.ts';
import {
  answerTool,
  cacheHintsOf,
  capabilitiesOf,
  setMethods,
  type McpFeatures,
} from './methods.ts';
import { OpenCalls } from './open-calls.ts';
import { Sender } from './sender.ts';

export interface McpOptions extends McpFeatures {
  readonly name: string;
  readonly title: string;
  readonly version: string;
  /** What a model should know before it uses the tools. */
  readonly instructions: string;
  /** Where the service is reached: only pages of that host may call. */
  readonly url: string;
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
 * ones before it. It keeps nothing between requests but the calls that are running and the streams of
 * those who listen for changes. The session that older clients get only tells their calls apart, so
 * any process can serve any request.
 */
export class McpEndpoint implements AsyncDisposable {
  readonly #options: McpOptions;
  readonly #calls = new OpenCalls();
  readonly #direct = new DirectCalls();
  #handler: Promise<McpHttpHandler> | undefined;

  constructor(options: McpOptions) {
    this.#options = options;
  }

  /** Answers a message; Fault `forbidden` when a page of another site sends it. */
  async handle(request: McpRequest): Promise<Response | WrittenBytes> {
    refuseForeign(request.headers, this.#options.url);
    const call = this.#direct.read(request);
    if (call) return this.#answer(call, request);
    refuseLargeBatch(request.body);
    const session = sessionOf(request.headers);
    const method = methodOf(request.body);
    if (method) request.span.setAttribute('mcp.method.name', method);
    if (method === 'notifications/cancelled') this.#cancel(request, session);
    const handler = await (this.#handler ??= this.#open());
    const left = new AbortController();
    const leave = Array.isArray(request.body) ? undefined : () => left.abort();
    const signal = AbortSignal.any([request.signal, left.signal]);
    const { headers } = request;
    const response = await handler.fetch(toWebRequest({ headers, signal }, this.#options.url), {
      parsedBody: request.body,
      authInfo: {
        token: '',
        clientId: request.identity.subject,
        scopes: [],
        extra: { sender: new Sender(request, { session, leave }) },
      },
    });
    if (response.ok) this.#direct.accept(request);
    if (method === 'initialize' && response.ok) response.headers.set(sessionHeader, newId('mcp'));
    return response;
  }

  /** Tells those who listen (`subscriptions/listen`) that all lists may have changed. */
  async tellChanged(): Promise<void> {
    const handler = await this.#handler;
    handler?.notify.toolsChanged();
    if (this.#options.prompts) handler?.notify.promptsChanged();
    if (this.#options.resources) handler?.notify.resourcesChanged();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.#handler)?.close();
  }

  /** Answers a call as the SDK would. */
  async #answer(call: DirectCall, request: McpRequest): Promise<Response | WrittenBytes> {
    const { tools, name, title, version } = this.#options;
    const { identity, requestId, span, signal } = request;
    const { traceparent, tracestate } = call;
    span.setAttribute('mcp.method.name', 'tools/call');
    span.setAttribute('gen_ai.tool.name', call.name);
    const caller = { identity, requestId, span };
    const traced = { ...caller, signal, traceparent, tracestate };
    const context = { ...traced, isReported: false, report: () => {} };
    try {
      const result = await answerTool(this.#options, caller, () =>
        tools.call(call.name, call.input, context),
      );
      return signal.aborted ? gone() : writeResult(call, result, { name, title, version });
    } catch (error) {
      if (error instanceof McpError) return writeError(call, error);
      throw error;
    }
  }

  /** The SDK takes a quarter of a second to load: only who is spoken to in MCP pays for it. */
  async #open(): Promise<McpHttpHandler> {
    const sdk = await import('@modelcontextprotocol/server');
    return sdk.createMcpHandler(({ era }) => this.#createServer(sdk, era), {
      onerror: (err) => this.#options.log.debug({ err }, 'mcp'),
    });
  }

  #createServer(sdk: Sdk, era: 'legacy' | 'modern'): Server {
    const { name, title, version, instructions } = this.#options;
    const server = new sdk.Server(
      { name, title, version },
      {
        capabilities: capabilitiesOf(this.#options, era) ?? {},
        cacheHints: cacheHintsOf(this.#options) ?? {},
        instructions,
      },
    );
    setMethods(server, { ...this.#options, calls: this.#calls });
    return server;
  }

  #cancel({ body, identity }: McpRequest, session: string | undefined): void {
    const { params } = body as { params?: { requestId?: unknown } };
    const id = params?.requestId;
    if (!session || (typeof id !== 'string' && typeof id !== 'number')) return;
    this.#calls.cancel({ subject: identity.subject, session, id });
  }
}

/** Nobody reads it: the caller has left, or the server stops. */
function gone(): Response {
  return new Response(null, { status: 499 });
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
function toWebRequest(
  { headers, signal }: Pick<McpRequest, 'headers' | 'signal'>,
  url: string,
): Request {
  const kept = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === 'string' && isMcpHeader(name)) kept.set(name, value);
  }
  return new Request(`${url}/mcp`, { method: 'POST', headers: kept, signal });
}

function isMcpHeader(name: string): boolean {
  return name === 'accept' || name === 'content-type' || name.startsWith('mcp-');
}
