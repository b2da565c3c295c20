import type {
  CallToolResult,
  CompleteRequestParams,
  CompleteResult,
  GetPromptResult,
  ReadResourceResult,
} from '@modelcontextprotocol/client';
import { unreadBecause, type ExchangeOptions, type Link } from './link.ts';
import type { Offer, ServerIdentity } from './link.ts';
import type { McpLink } from './mcp-link.ts';

/** What failed over a link. */
export interface FailedExchange {
  readonly link: McpLink;
  readonly error: unknown;
  readonly isProbe: boolean;
}

/** The link to repeat it over, when the server cannot have begun it. */
export type Recover = (
  failed: FailedExchange,
  options?: ExchangeOptions,
) => Promise<McpLink | undefined>;

/** A link that outlives its conversation: what a server cannot have begun is repeated, once. */
export class PooledLink implements Link {
  readonly #recover: Recover;
  #link: McpLink;
  pid?: number;

  constructor(link: McpLink, recover: Recover) {
    this.#link = link;
    this.#recover = recover;
    if (link.pid !== undefined) this.pid = link.pid;
  }

  get server(): ServerIdentity {
    return this.#link.server;
  }

  get activeCount(): number {
    return this.#link.activeCount;
  }

  probe(options?: ExchangeOptions): Promise<void> {
    return this.#run(options, (link) => link.probe(options), true);
  }

  async learn(options?: ExchangeOptions): Promise<Offer> {
    const offer = await this.#run(options, (link) => link.learn(options));
    if (!unreadBecause(offer, 'tools')) return offer;
    // A server that knows none of our messages fails no list by an error of its own.
    const asked = this.#link;
    await this.probe(options).catch(() => {});
    return this.#link === asked ? offer : this.#link.learn(options);
  }

  callTool(
    name: string,
    input: Readonly<Record<string, unknown>>,
    options?: ExchangeOptions,
  ): Promise<CallToolResult> {
    return this.#run(options, (link) => link.callTool(name, input, options));
  }

  readResource(uri: string, options?: ExchangeOptions): Promise<ReadResourceResult> {
    return this.#run(options, (link) => link.readResource(uri, options));
  }

  getPrompt(
    name: string,
    input: Readonly<Record<string, string>>,
    options?: ExchangeOptions,
  ): Promise<GetPromptResult> {
    return this.#run(options, (link) => link.getPrompt(name, input, options));
  }

  complete(request: CompleteRequestParams, options?: ExchangeOptions): Promise<CompleteResult> {
    return this.#run(options, (link) => link.complete(request, options));
  }

  async #run<T>(
    options: ExchangeOptions | undefined,
    exchange: (link: McpLink) => Promise<T>,
    isProbe = false,
  ): Promise<T> {
    const link = this.#link;
    try {
      return await exchange(link);
    } catch (error) {
      const next = await this.#recover({ link, error, isProbe }, options);
      if (!next) throw error;
      this.#link = next;
      if (next.pid !== undefined) this.pid = next.pid;
      return exchange(next);
    }
  }
}
