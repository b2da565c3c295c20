/** What leaves as this very JSON-RPC error: a code of JSON-RPC 2.0 section 5.1, or another server's. */
export class McpError extends Error {
  override readonly name = 'McpError';
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** The codes that this service answers with itself. */
export const mcpCodes = { invalidParams: -32_602, internal: -32_603, server: -32_000 } as const;
