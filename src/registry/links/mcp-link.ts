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
import type { ProgressReports } from './progress-reports.ts';

export interface McpLinkOptions {
  /** Connected. */
  readonly client: Client;
  readonly server: ServerIdentity;
  readonly pid?: number | undefined;
  /** What is known of the tools from before: it tells which inputs go into headers (SEP-2243). */
  readonly tools?: readonly Tool[] | undefined;
  /** Told of all that comes over the transport. */
  readonly progress: ProgressReports;
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
    const toolDefinition = this.#tools.get(name);
    return this.#exchange(options, (request, meta) =>
      client.callTool(
        { name, arguments: { ...input }, ...meta },
        toolDefinition ? { ...request, toolDefinition } : request,
      ),
    );
  }

  readResource(uri: string, options?: ExchangeOptions): Promise<ReadResourceResult> {
    const { client } = this.#options;
    return this.#exchange(options, (request, meta) =>
      client.request({ method: 'resources/read', params: { uri, ...meta } }, request),
    );
  }

  getPrompt(
    name: string,
    input: Readonly<Record<string, string>>,
    options?: ExchangeOptions,
  ): Promise<GetPromptResult> {
    const { client } = this.#options;
    return this.#exchange(options, (request, meta) => {
      const params = { name, arguments: { ...input }, ...meta };
      return client.request({ method: 'prompts/get', params }, request);
    });
  }

  complete(request: CompleteRequestParams, options?: ExchangeOptions): Promise<CompleteResult> {
    const { client } = this.#options;
    return this.#exchange(options, (settings, meta) =>
      client.complete({ ...request, ...meta }, settings),
    );
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
    exchange: (request: RequestOptions, meta: Meta) => Promise<T>,
  ): Promise<T> {
    if (this.#isClosed) throw linkClosed(this.#options.failure());
    const { progress } = this.#options;
    using reporting = options?.onProgress && progress.begin(options.onProgress);
    this.#activeCount += 1;
    try {
      return await exchange(toRequestOptions(options), metaOf(options, reporting?.token));
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
  const { signal, timeoutMs = defaultTimeoutMs } = options;
  const trace = traceOf(options);
  return {
    timeout: timeoutMs,
    ...(signal ? { signal } : {}),
    ...(trace ? { headers: trace } : {}),
  };
}

/** What a message says beside its parameters. */
interface Meta {
  readonly _meta?: Record<string, unknown>;
}

function metaOf(options: ExchangeOptions = {}, progressToken?: number): Meta {
  const trace = traceOf(options);
  if (!trace && progressToken === undefined) return {};
  return { _meta: { ...trace, ...(progressToken === undefined ? {} : { progressToken }) } };
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
