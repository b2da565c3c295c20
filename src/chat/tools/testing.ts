import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { findFreePort } from '../../kit/testing.ts';
import type { CallerClients } from '../caller-clients.ts';
import { fieldOf } from './listed-tool.ts';

/** What a registry that a test scripts is asked for. */
export interface AskedRegistry {
  readonly credential: string;
  readonly method: unknown;
  readonly params: unknown;
}

type Answerer = (params: unknown, signal: AbortSignal | undefined) => unknown;

/** A registry of given tools, in place of a client of the real one. */
export function scriptRegistry(tools: readonly unknown[] = []) {
  const registry = {
    tools: [...tools],
    /** Registered, whether their tools are known or not. */
    connections: [] as { readonly name: string; readonly status: string }[],
    asked: [] as AskedRegistry[],
    list: undefined as Answerer | undefined,
    call: undefined as Answerer | undefined,
  };
  const ask = async (credential: string, body: unknown, signal: AbortSignal | undefined) => {
    const method = fieldOf(body, 'method');
    const params = fieldOf(body, 'params');
    registry.asked.push({ credential, method, params });
    const answerer = method === 'tools/list' ? registry.list : registry.call;
    const result = answerer ? await answerer(params, signal) : { tools: registry.tools };
    return fieldOf(result, 'error') === undefined ? { result } : result;
  };
  const clients = (_contract: unknown, { credential }: { readonly credential: string }) => ({
    mcp: ({ body }: { body: unknown }, options?: { signal?: AbortSignal }) =>
      ask(credential, body, options?.signal),
    listConnections: async ({ query }: { query: { name?: string } }) => ({
      connections: registry.connections.filter(({ name }) => name === query.name),
    }),
  });
  // Only what is asked of the registry.
  return { registry, clients: clients as never as CallerClients };
}

export function aTool(name: string, fields: object = {}) {
  return { name, description: `does ${name}`, inputSchema: { type: 'object' }, ...fields };
}

export const reads = { annotations: { readOnlyHint: true } };

/** The reference server of MCP as a process of its own, over HTTP. */
export async function startEverything() {
  const port = await findFreePort();
  const { resolve } = createRequire(import.meta.url);
  const manifest = resolve('@modelcontextprotocol/server-everything/package.json');
  const entry = join(dirname(manifest), 'dist', 'index.js');
  const child = spawn(process.execPath, [entry, 'streamableHttp'], {
    env: { PATH: process.env['PATH'], PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  for await (const chunk of child.stderr) if (String(chunk).includes('listening')) break;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    [Symbol.asyncDispose]: async () => {
      child.kill();
      await once(child, 'exit');
    },
  };
}
