import type { Span } from '../../../kit/trace/trace.ts';

/** What a tool of an MCP server answered. */
export interface ToolAnswer {
  /** Its structured content, else its text. */
  readonly result: unknown;
  /** Content blocks as in MCP. */
  readonly content: readonly unknown[];
  /** The tool itself says that it failed. */
  readonly isError: boolean;
}

export interface ToolCall {
  /** The name of a server; absent: any that offers the tool. */
  readonly server?: string | undefined;
  readonly tool: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly parent: Span;
  readonly idempotencyKey: string;
}

/** An MCP server that the registry knows. */
export interface FoundServer {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly protocol: string;
  readonly capabilities: readonly string[];
}

/** The registry as flows need it. */
export interface RegistryPort {
  /** Fault `not_found` (`server_not_found`) for a name that no server has. */
  callTool(call: ToolCall): Promise<ToolAnswer>;
  /** Those that work, in the order in which the registry would ask them. */
  findServers(
    capability: string,
    options: Pick<ToolCall, 'timeoutMs' | 'signal' | 'parent'>,
  ): Promise<readonly FoundServer[]>;
}
