import type {
  CallToolResult,
  Client,
  CompleteRequestParams,
  CompleteResult,
  GetPromptResult,
  ReadResourceResult,
  RequestOptions,
  Tool,
} from '@modelcontextprotocol/client';
import { Fault } from '../../kit/errors.ts';
import { listOffer } from './lists.ts';
import { linkClosed, toLinkFault } from './link-faults.ts';
import {
  unreadBecause,
  type ExchangeOptions,
  type Link,
  type Offer,
  type ServerIdentity,
} from './link.ts';

export interface McpLinkOptions {
  /** Connected. */
  readonly client: Client;
  readonly server: ServerIdentity;
  readonly pid?: number | undefined;
  /** What is known of the tools from before: it tells which inputs go into headers (SEP-2243). */
  readonly tools?: readonly Tool[] | undefined;
  /** Why the transport failed, when it said so. */
  readonly failure: () => Fault | undefined;
}

const defaultTimeoutMs = 60_000;
/** What a header may hold (W3C Trace Context, section 3.3.1). */
const tracestatePattern = /^[\x20-\x7e]{1,512}$/;

/** A conversation through one client of the SDK. */
export class McpLink implements Link {
  readonly server: ServerIdentity;
  readonly pid?: number;
  readonly #options: McpLinkOptions;
  #tools: ReadonlyMap<string, Tool>;
  #activeCount = 0;
  #isClosed = false;
  #onIdle: (() => void) | undefined;
  /** By the clock that `Date.now` reads. */
  lastUsedMs = Date.now();

  constructor(options: McpLinkOptions) {
    this.#options = options;
    this.server = options.server;
    if (options.pid !== undefined) this.pid = options.pid;
    this.#tools = byName(options.tools ?? []);
  }

  get activeCount(): number {
    return this.#activeCount;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  async probe(options?: ExchangeOptions): Promise<void> {
    const { client } = this.#options;
    const isModern = this.server.era === 'modern';
    await this.#exchange(options, (request) =>
      isModern ? client.discover(request) : client.ping(request),
    );
  }

  async learn(options?: ExchangeOptions): Promise<Offer> {
    const { client } = this.#options;
    const offer = await this.#exchange(options, (request) => listOffer(client, request));
    if (!unreadBecause(offer, 'tools')) this.#tools = byName(offer.tools);
    return offer;
  }

  callTool(
    name: string,
    input: Readonly<Record<string, unknown>>,
    options?: ExchangeOptions,
  ): Promise<CallToolResult> {
    const { client } = this.#options;
    const params = { name, arguments: { ...input }, ...metaOf(options) };
    const toolDefinition = this.#tools.get(name);
    return this.#exchange(options, (request) =>
      client.callTool(params, toolDefinition ? { ...request, toolDefinition } : request),
    );
  }

  readResource(uri: string, options?: ExchangeOptions): Promise<ReadResourceResult> {
    const { client } = this.#options;
    const params = { uri, ...metaOf(options) };
    return this.#exchange(options, (request) =>
      client.request({ method: 'resources/read', params }, request),
    );
  }

  getPrompt(
    name: string,
    input: Readonly<Record<string, string>>,
    options?: ExchangeOptions,
  ): Promise<GetPromptResult> {
    const { client } = this.#options;
    const params = { name, arguments: { ...input }, ...metaOf(options) };
    return this.#exchange(options, (request) =>
      client.request({ method: 'prompts/get', params }, request),
    );
  }

  complete(request: CompleteRequestParams, options?: ExchangeOptions): Promise<CompleteResult> {
    const { client } = this.#options;
    const params = { ...request, ...metaOf(options) };
    return this.#exchange(options, (settings) => client.complete(params, settings));
  }

  /** Resolves when the session or the process is gone. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#options.client.close();
  }

  /** Takes nothing further, and closes when what is under way has ended. */
  async retire(): Promise<void> {
    this.#isClosed = true;
    if (this.#activeCount > 0) {
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
    }
    await this.close();
  }

  /** For the owner: the transport ended by itself. */
  markClosed(): void {
    this.#isClosed = true;
  }

  async #exchange<T>(
    options: ExchangeOptions | undefined,
    exchange: (request: RequestOptions) => Promise<T>,
  ): Promise<T> {
    if (this.#isClosed) throw linkClosed(this.#options.failure());
    this.#activeCount += 1;
    try {
      return await exchange(toRequestOptions(options));
    } catch (error) {
      throw this.#explain(toLinkFault(error, options?.signal));
    } finally {
      this.#activeCount -= 1;
      this.lastUsedMs = Date.now();
      if (this.#activeCount === 0) this.#onIdle?.();
    }
  }

  /** What the transport said of its end tells more than that it ended. */
  #explain(fault: Fault): Fault {
    return fault.reason === 'answer_cut_off' ? (this.#options.failure() ?? fault) : fault;
  }
}

function toRequestOptions(options: ExchangeOptions = {}): RequestOptions {
  const { signal, timeoutMs = defaultTimeoutMs, onProgress } = options;
  const trace = traceOf(options);
  return {
    timeout: timeoutMs,
    ...(signal ? { signal } : {}),
    ...(trace ? { headers: trace } : {}),
    ...(onProgress
      ? {
          onprogress: ({ progress, total, message }) =>
            onProgress({
              progress,
              ...(total === undefined ? {} : { total }),
              ...(message === undefined ? {} : { message }),
            }),
        }
      : {}),
  };
}

function metaOf(options: ExchangeOptions = {}) {
  const trace = traceOf(options);
  return trace ? { _meta: trace } : {};
}

/** A trace state that no header can carry stays here. */
function traceOf({ traceparent, tracestate }: ExchangeOptions) {
  if (traceparent === undefined) return undefined;
  const isSendable = tracestate !== undefined && tracestatePattern.test(tracestate);
  return isSendable ? { traceparent, tracestate } : { traceparent };
}

/** Without what they say of their results: the client would refuse one in the server's name. */
function byName(tools: readonly Tool[]): ReadonlyMap<string, Tool> {
  return new Map(
    tools.map((tool) => {
      const known = { ...tool };
      delete known.outputSchema;
      return [tool.name, known];
    }),
  );
}
