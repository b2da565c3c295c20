import type {
  CallToolResult,
  CompleteRequestParams,
  CompleteResult,
  GetPromptResult,
  Prompt,
  ReadResourceResult,
  Resource,
  ResourceTemplateType,
  Tool,
} from '@modelcontextprotocol/client';

/** Everything that a server has, in its own order and under its own names. */
export interface Offer {
  readonly tools: readonly Tool[];
  readonly prompts: readonly Prompt[];
  readonly resources: readonly Resource[];
  readonly resourceTemplates: readonly ResourceTemplateType[];
  /** What of the lists did not come; absent when all did. */
  readonly flaws?: readonly ListFlaw[];
}

/** The longest name of a tool that is taken from a server, and from callers. */
export const toolNameCharsMax = 256;

export const listNames = ['tools', 'prompts', 'resources', 'resourceTemplates'] as const;
export type ListName = (typeof listNames)[number];

/** Why a list is not all that the server has. */
export interface ListFlaw {
  readonly list: ListName;
  /**
   * `malformed`, `repeated`: this `count` of items are left out. `too_many`: the first are kept. Any other
   * is why it could not be read: the reason of a Fault of `Link`.
   */
  readonly reason: string;
  /** Of JSON-RPC, with the reason `server_error`. */
  readonly code?: number;
  readonly count?: number;
}

const partialReasons: ReadonlySet<string> = new Set(['malformed', 'repeated', 'too_many']);

/** Why a list could not be read; undefined when it was, even if not all of it. */
export function unreadBecause({ flaws = [] }: Offer, list: ListName): string | undefined {
  return flaws.find((flaw) => flaw.list === list && !partialReasons.has(flaw.reason))?.reason;
}

/** Who a server says it is, and how it wants to be spoken to. */
export interface ServerIdentity {
  readonly name: string;
  readonly version: string;
  readonly title?: string;
  readonly instructions?: string;
  /** The revision of MCP that was agreed, such as `2026-07-28`. */
  readonly protocolVersion: string;
  /** `modern` keeps no session (2026-07-28 and later), `legacy` begins with `initialize`. */
  readonly era: 'modern' | 'legacy';
  /** When the server was last asked for its era, which a `legacy` one may have left since. */
  readonly eraFoundAtMs?: number;
}

export interface LinkProgress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

export interface ExchangeOptions {
  /** Ends the exchange at the server too, where it can. */
  readonly signal?: AbortSignal | undefined;
  /** For the whole exchange; 60,000 unless told. */
  readonly timeoutMs?: number | undefined;
  /** W3C trace context, sent in `_meta` (SEP-414) and, over HTTP, as header. */
  readonly traceparent?: string | undefined;
  /** Sent beside it. */
  readonly tracestate?: string | undefined;
  readonly onProgress?: ((progress: LinkProgress) => void) | undefined;
}

/**
 * An open conversation with one MCP server, shared by all who call it. Faults: `deadline`,
 * `cancelled`, `unavailable` (no connection, the process is gone), `upstream` (the server answered
 * what is no MCP, or too much: reason `answer_too_large`), `forbidden` (`egress_blocked`,
 * `command_not_allowed`, `approval_required`), `unauthenticated` at the server: `upstream` with reason
 * `authorization_required`, or `insufficient_scope` and detail `{scope?}`. What the server itself
 * refuses (a JSON-RPC error) is `upstream` with reason `server_error` and detail `{code, message, data?}`.
 */
export interface Link {
  readonly server: ServerIdentity;
  /** Exchanges that are running. */
  readonly activeCount: number;
  /** The child process of a stdio server. */
  readonly pid?: number;
  /** The cheapest real exchange: `server/discover`, or `ping` for a legacy server. */
  probe(options?: ExchangeOptions): Promise<void>;
  /** Asks for every list that the server says it has, all pages, bounded; one that fails is a flaw. */
  learn(options?: ExchangeOptions): Promise<Offer>;
  callTool(
    name: string,
    input: Readonly<Record<string, unknown>>,
    options?: ExchangeOptions,
  ): Promise<CallToolResult>;
  readResource(uri: string, options?: ExchangeOptions): Promise<ReadResourceResult>;
  getPrompt(
    name: string,
    input: Readonly<Record<string, string>>,
    options?: ExchangeOptions,
  ): Promise<GetPromptResult>;
  /** Proposals for an argument of a prompt or of a resource template, under the server's own names. */
  complete(request: CompleteRequestParams, options?: ExchangeOptions): Promise<CompleteResult>;
}

/** The open links: one for each connection, opened when first needed. */
export interface Links {
  /** Opens or shares; a second opener waits for the first. Rejects as `Link` does. */
  open(connectionId: string, options?: ExchangeOptions): Promise<Link>;
  /** The link when it is open. */
  peek(connectionId: string): Link | undefined;
  /** Resolves when the process or the session is gone. */
  close(connectionId: string): Promise<void>;
  /** Called when a server says that its lists have changed. */
  onOfferChanged(listener: (connectionId: string) => void): () => void;
  /** Called when an open link broke by itself. */
  onBroken(listener: (connectionId: string, error: unknown) => void): () => void;
}
