import type { Client } from '../../kit/client.ts';
import { Fault } from '../../kit/errors.ts';
import type { registryContract } from '../../registry/contract.ts';
import { fieldOf } from './listed-tool.ts';

/** What is asked of the registry on a caller's behalf. */
export type RegistryClient = Pick<Client<typeof registryContract>, 'mcp' | 'listConnections'>;

export interface McpQuestion {
  readonly method: 'tools/list' | 'tools/call';
  /** The tool's, of a call. */
  readonly name?: string;
  readonly input?: Readonly<Record<string, unknown>>;
}

export interface McpOptions {
  readonly signal?: AbortSignal;
  readonly timeoutMs: number;
}

/** The stateless revision of MCP: one request, answered as JSON. */
const revision = '2026-07-28';
const meta = {
  'io.modelcontextprotocol/protocolVersion': revision,
  'io.modelcontextprotocol/clientInfo': { name: 'ennead-chat', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

/**
 * Asks the MCP server that the registry is for all of its servers. Its door is the only one that tells
 * annotations, and knows every tool by one name. Fault `upstream` (`registry_refused`) for an error of
 * JSON-RPC.
 */
export async function askRegistry(
  registry: RegistryClient,
  { method, name, input }: McpQuestion,
  { signal, timeoutMs }: McpOptions,
): Promise<unknown> {
  const call = name === undefined ? {} : { name, arguments: input ?? {} };
  const params = { ...call, _meta: meta };
  const headers = {
    'mcp-protocol-version': revision,
    'mcp-method': method,
    ...(name === undefined ? {} : { 'mcp-name': name }),
  };
  const answer = await registry.mcp(
    { query: {}, body: { jsonrpc: '2.0', id: 1, method, params } },
    { headers, timeoutMs, ...(signal ? { signal } : {}) },
  );
  const error = fieldOf(answer, 'error');
  if (error === undefined) return fieldOf(answer, 'result');
  const message = fieldOf(error, 'message');
  throw new Fault('upstream', typeof message === 'string' ? message : 'the registry refused it', {
    reason: 'registry_refused',
  });
}
