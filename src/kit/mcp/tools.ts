import type { CallToolResult, Tool } from '@modelcontextprotocol/server';
import type { Identity } from '../identity/identity.ts';
import type { Span } from '../trace/trace.ts';

export type { CallToolResult, Tool } from '@modelcontextprotocol/server';

/** The tools of an MCP server: its own table, or one that is gathered from elsewhere. */
export interface McpTools {
  /** What this caller may see: all at once, or the page that the cursor of the one before begins. */
  list(
    caller: McpCaller,
    cursor?: string,
  ): Promise<readonly Tool[] | ToolPage> | readonly Tool[] | ToolPage;
  /**
   * Runs a tool. A Fault that it throws becomes a result with `isError`, which the calling model can
   * read and mend; with the reason `tool_not_found`, or as an `McpError`, a JSON-RPC error instead.
   */
  call(name: string, input: unknown, context: McpCallContext): Promise<CallToolResult>;
}

/** Some of the tools, and where the next page begins; the last one when it says nothing. */
export interface ToolPage {
  readonly tools: readonly Tool[];
  readonly nextCursor?: string;
}

/** Who speaks MCP to us. */
export interface McpCaller {
  readonly identity: Identity;
  readonly requestId: string;
  /** The server span of the HTTP request that carries the message. */
  readonly span: Span;
}

/** How far a tool is; `progress` grows with every report. */
export interface McpProgress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

export interface McpCallContext extends McpCaller {
  /** Aborted when the caller cancels the call, has gone, or the server stops. */
  readonly signal: AbortSignal;
  /** The W3C trace context in the message's own `_meta` (SEP-414), unchecked. */
  readonly traceparent: string | undefined;
  /** The W3C trace state beside it, unchecked. */
  readonly tracestate: string | undefined;
  /** Whether the caller asked to be told how far the call is. */
  readonly isReported: boolean;
  /** Tells the caller how far the tool is; without effect for a caller who did not ask for it. */
  readonly report: (progress: McpProgress) => void;
}
