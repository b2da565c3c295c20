import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { setPriority } from 'node:os';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { findFreePort } from '../../src/kit/testing.ts';
import { MeasuredChild } from '../harness/measured-child.ts';

/** Where an MCP server is: an address, or a program of Node. */
export type Target = { readonly url: string } | { readonly args: readonly string[] };

export interface OpenTarget extends AsyncDisposable {
  readonly target: Target;
}

export type TargetKind = 'http' | 'stdio' | 'everything';

/** What the registry gives its servers, so that both are as often made to wait. */
const serverNiceness = 5;
const everything = createRequire(import.meta.url).resolve(
  '@modelcontextprotocol/server-everything/dist/index.js',
);

/** Starts the server of a kind; a program is started by whoever speaks to it. */
export async function openTarget(kind: TargetKind): Promise<OpenTarget> {
  if (kind === 'everything') return openEverything();
  if (kind === 'stdio') {
    const args = [fileURLToPath(new URL('stdio-server.js', import.meta.url))];
    return { target: { args }, [Symbol.asyncDispose]: async () => {} };
  }
  const child = await startHttpServer();
  const target = { url: `${child.hello.url}/mcp` };
  return { target, [Symbol.asyncDispose]: () => child[Symbol.asyncDispose]() };
}

/** The server over HTTP, of which the exchanges can be counted. */
export function startHttpServer(): Promise<MeasuredChild<{ readonly url: string }>> {
  return MeasuredChild.start(new URL('server-child.js', import.meta.url), []);
}

/** The official client, connected; with a token as a caller of ours. */
export async function connect(target: Target, token?: string): Promise<Client> {
  const client = new Client(
    { name: 'bench', version: '1.0.0' },
    { versionNegotiation: { mode: 'auto' } },
  );
  const transport = transportTo(target, token);
  await client.connect(transport);
  if ('pid' in transport && transport.pid) setPriority(transport.pid, serverNiceness);
  return client;
}

function transportTo(target: Target, token: string | undefined) {
  if ('args' in target) {
    return new StdioClientTransport({ command: process.execPath, args: [...target.args] });
  }
  const headers: Record<string, string> =
    token === undefined ? {} : { authorization: `Bearer ${token}` };
  return new StreamableHTTPClientTransport(new URL(target.url), { requestInit: { headers } });
}

async function openEverything(): Promise<OpenTarget> {
  const port = await findFreePort();
  const child = spawn(process.execPath, [everything, 'streamableHttp'], {
    env: { ...process.env, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  // However this process ends, none of others is left behind.
  process.once('exit', () => void child.kill('SIGKILL'));
  await isListening(child);
  return {
    target: { url: `http://127.0.0.1:${port}/mcp` },
    [Symbol.asyncDispose]: async () => {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}

async function isListening({ stderr }: ChildProcess): Promise<void> {
  if (!stderr) throw new Error('the server has no output');
  const lines = createInterface(stderr);
  for await (const line of lines) if (line.includes('listening')) break;
  stderr.resume();
}
