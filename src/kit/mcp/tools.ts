import type { CallToolResult, Tool } from '@modelcontextprotocol/server';
import type { Identity } from '../identity/identity.ts';
import type { Span } from '../trace.ts';

export type { CallToolResult, Tool } from '@modelcontextprotocol/server';

/** The tools of an MCP server: its own table, or one that is gathered from elsewhere. */
export interface McpTools {
  /** What this caller may see. */
  list(caller: McpCaller): Promise<readonly Tool[]> | readonly Tool[];
  /**
   * Runs a tool. A Fault that it throws becomes a result with `isError`, which the calling model can
   * read and mend; with the reason `tool_not_found`, or as an `McpError`, a JSON-RPC error instead.
   */
  call(name: string, input: unknown, context: McpCallContext): Promise<CallToolResult>;
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
  /** Whether the caller asked to be told how far the call is. */
  readonly isReported: boolean;
  /** Tells the caller how far the tool is; without effect for a caller who did not ask for it. */
  readonly report: (progress: McpProgress) => void;
}
