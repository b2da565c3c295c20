import {
  Client,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findFreePort } from '../../kit/testing.ts';
import type { Link } from '../links/link.ts';
import { aConnection, linkOver, openAggregate } from './testing.ts';

const { resolve } = createRequire(import.meta.url);

function entryOf(server: string): string {
  const manifest = resolve(`@modelcontextprotocol/server-${server}/package.json`);
  return join(dirname(manifest), 'dist', 'index.js');
}

let folder: string;
let everything: ChildProcess;
let ground: Awaited<ReturnType<typeof openAggregate>>;
const links = new Map<string, Link>();
const servers: Client[] = [];
const clients: Client[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ennead-aggregate-'));
  await writeFile(join(folder, 'hello.txt'), 'hello, registry');
  ground = await openAggregate({
    open: async (id) => {
      const link = links.get(id);
      if (link) return link;
      throw new Error(`no link ${id}`);
    },
  });
  const port = await findFreePort();
  everything = spawn(process.execPath, [entryOf('everything'), 'streamableHttp'], {
    env: { PATH: process.env['PATH'], PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await untilListening(everything);
  const url = new URL(`http://127.0.0.1:${port}/mcp`);
  await addServer('everything', stdio('everything', ['stdio']));
  await addServer('web', new StreamableHTTPClientTransport(url));
  await addServer('files', stdio('filesystem', [folder]));
  await addServer('memory', stdio('memory', []));
});

afterAll(async () => {
  await Promise.all([...clients, ...servers].map((client) => client.close()));
  everything.kill();
  await once(everything, 'exit');
  await ground[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

async function untilListening({ stderr }: ChildProcess): Promise<void> {
  for await (const chunk of stderr ?? []) if (String(chunk).includes('listening')) return;
}

function stdio(server: string, args: readonly string[]): Transport {
  const env = { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') };
  const command = process.execPath;
  return new StdioClientTransport({
    command,
    args: [entryOf(server), ...args],
    env,
    stderr: 'ignore',
  });
}

async function addServer(name: string, transport: Transport): Promise<void> {
  const client = new Client({ name: 'registry', version: '1' });
  await client.connect(transport);
  servers.push(client);
  const { link, offer } = await linkOver(client);
  const connection = aConnection({ name, offer });
  links.set(connection.id, link);
  ground.directory.put(connection);
}

describe.each(['auto', 'legacy'] as const)('through the registry, spoken to as %s', (mode) => {
  let client: Client;

  beforeAll(async () => {
    const authorization = `Bearer ${await ground.token(['agent:execute'])}`;
    const url = new URL(`${ground.address}/mcp`);
    client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
    const requestInit = { headers: { authorization } };
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
    clients.push(client);
  });

  test('all tools of all servers are there, under the names of their servers', async () => {
    const { tools } = await client.listTools();
    const expected = [];
    for (const [index, name] of ['everything', 'web', 'files', 'memory'].entries()) {
      const own = await servers[index]?.listTools();
      for (const tool of own?.tools ?? []) expected.push(`${name}__${tool.name}`);
    }
    expect(tools.map(({ name }) => name)).toEqual(expected);
    expect(expected.length).toBeGreaterThan(40);
  });

  test.each(['everything', 'web'])('a call reaches %s', async (name) => {
    const echoed = await client.callTool({
      name: `${name}__echo`,
      arguments: { message: 'over there' },
    });
    expect(echoed.content).toMatchObject([{ text: 'Echo: over there' }]);
  });

  test.each(['everything', 'web'])('structured content of %s keeps its schema', async (name) => {
    const weather = await client.callTool({
      name: `${name}__get-structured-content`,
      arguments: { location: 'Chicago' },
    });
    expect(weather.structuredContent).toMatchObject({ temperature: expect.any(Number) });
  });

  test('progress of a server reaches the caller', async () => {
    const seen: number[] = [];
    const onprogress = ({ progress }: { progress: number }) => seen.push(progress);
    await client.callTool(
      {
        name: 'everything__trigger-long-running-operation',
        arguments: { duration: 0.3, steps: 3 },
      },
      { onprogress },
    );
    // The last one is sent together with the answer, and the official client may drop it.
    expect(seen.slice(0, 2)).toEqual([1, 2]);
  });

  test('prompts, resources, templates and completions of a server are reached', async () => {
    const { prompts } = await client.listPrompts();
    expect(prompts.map(({ name }) => name)).toContain('everything__simple-prompt');
    const prompt = await client.getPrompt({
      name: 'everything__args-prompt',
      arguments: { city: 'Oslo' },
    });
    expect(JSON.stringify(prompt.messages)).toContain('Oslo');
    const { resources } = await client.listResources();
    const [first] = resources;
    expect(first).toMatchObject({ _meta: { 'ennead.registry/also-offered-by': ['web'] } });
    expect((await client.readResource({ uri: first?.uri ?? '' })).contents).toHaveLength(1);
    const text = await client.readResource({ uri: 'demo://resource/dynamic/text/1' });
    expect(text.contents).toHaveLength(1);
    const completed = await client.complete({
      ref: { type: 'ref/prompt', name: 'everything__completable-prompt' },
      argument: { name: 'department', value: 'E' },
    });
    expect(completed.completion.values).toEqual(['Engineering']);
  });

  test('files of a folder are read, and a refusal of the server is its own', async () => {
    const name = 'files__read_text_file';
    const read = await client.callTool({ name, arguments: { path: join(folder, 'hello.txt') } });
    expect(read.content).toMatchObject([{ text: 'hello, registry' }]);
    const refused = await client.callTool({ name, arguments: { path: '/etc/passwd' } });
    expect(refused).toMatchObject({ isError: true });
    expect(JSON.stringify(refused.content)).toContain('Access denied');
  });

  test('a memory keeps what it is told', async () => {
    const entity = { name: `ada ${mode}`, entityType: 'person', observations: ['counts'] };
    await client.callTool({ name: 'memory__create_entities', arguments: { entities: [entity] } });
    const graph = await client.callTool({ name: 'memory__read_graph' });
    expect(JSON.stringify(graph.structuredContent)).toContain(`ada ${mode}`);
  });
});
