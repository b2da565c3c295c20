import type {
  CallToolResult,
  CompleteRequestParams,
  CompleteResult,
  GetPromptResult,
  ReadResourceResult,
} from '@modelcontextprotocol/client';
import { isNeverSent } from './link-faults.ts';
import type { ExchangeOptions, Link, Offer, ServerIdentity } from './link.ts';
import type { McpLink } from './mcp-link.ts';

/** Opens a link in place of one that broke, or shares the one that somebody else has opened. */
export type Reopen = (broken: McpLink, options?: ExchangeOptions) => Promise<McpLink>;

/** A link that outlives its conversation: what a dead one never sent, the next one does, once. */
export class PooledLink implements Link {
  readonly #reopen: Reopen;
  #link: McpLink;
  pid?: number;

  constructor(link: McpLink, reopen: Reopen) {
    this.#link = link;
    this.#reopen = reopen;
    if (link.pid !== undefined) this.pid = link.pid;
  }

  get server(): ServerIdentity {
    return this.#link.server;
  }

  get activeCount(): number {
    return this.#link.activeCount;
  }

  probe(options?: ExchangeOptions): Promise<void> {
    return this.#run(options, (link) => link.probe(options));
  }

  learn(options?: ExchangeOptions): Promise<Offer> {
    return this.#run(options, (link) => link.learn(options));
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
  ): Promise<T> {
    try {
      return await exchange(this.#link);
    } catch (error) {
      if (!isNeverSent(error)) throw error;
      this.#link = await this.#reopen(this.#link, options);
      if (this.#link.pid !== undefined) this.pid = this.#link.pid;
      return exchange(this.#link);
    }
  }
}
