import { spawn, type ChildProcess } from 'node:child_process';
import { getEventListeners } from 'node:events';
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findFreePort } from '../../kit/testing.ts';
import { openProcessGround, type ProcessGround } from '../processes/testing.ts';
import { local, openLinks, remote } from './testing.ts';

const require = createRequire(import.meta.url);
const everything = require.resolve('@modelcontextprotocol/server-everything/dist/index.js');
const filesystem = require.resolve('@modelcontextprotocol/server-filesystem/dist/index.js');
const memory = require.resolve('@modelcontextprotocol/server-memory/dist/index.js');

let processes: ProcessGround;
let links: ReturnType<typeof openLinks>;
let folder: string;
let port: number;
let child: ChildProcess;

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'registry-links-')));
  await writeFile(join(folder, 'note.txt'), 'a note');
  processes = await openProcessGround();
  const { supervision } = processes;
  links = openLinks({ spawn: (order, options) => supervision.spawn(order, options) });
  port = await findFreePort();
  child = await startHttp();
  const { directory } = links;
  const node = process.execPath;
  directory.put(local('con_everything', node, [everything, 'stdio']));
  directory.put(local('con_filesystem', node, [filesystem, folder]));
  directory.put(local('con_memory', node, [memory]));
  directory.put(remote('con_http', `http://127.0.0.1:${port}/mcp`));
});

afterAll(async () => {
  await links[Symbol.asyncDispose]();
  await processes[Symbol.asyncDispose]();
  child.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

async function startHttp(): Promise<ChildProcess> {
  const started = spawn(process.execPath, [everything, 'streamableHttp'], {
    env: { ...process.env, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await new Promise<void>((resolve) => {
    started.stderr.on('data', (chunk: Buffer) => {
      if (String(chunk).includes('listening')) resolve();
    });
  });
  return started;
}

test.each(['con_everything', 'con_http'])(
  '%s, a server of the sessions, is opened, learned, called and probed',
  async (id) => {
    const link = await links.pool.open(id);
    expect(link.server).toMatchObject({ era: 'legacy', protocolVersion: '2025-11-25' });
    const offer = await link.learn();
    expect(offer.tools.map(({ name }) => name)).toContain('echo');
    expect(offer.prompts.length).toBeGreaterThan(0);
    expect(offer.resources.length).toBeGreaterThan(0);
    const answer = await link.callTool('echo', { message: 'hello' });
    expect(answer.content).toEqual([{ type: 'text', text: 'Echo: hello' }]);
    await link.probe({ timeoutMs: 2_000 });
    expect(link.activeCount).toBe(0);
  },
);

test('a tool tells its progress, and is stopped by its caller', async () => {
  for (const id of ['con_everything', 'con_http']) {
    const link = await links.pool.open(id);
    const steps: number[] = [];
    const name = 'trigger-long-running-operation';
    const onProgress = ({ progress }: { progress: number }) => steps.push(progress);
    await link.callTool(name, { duration: 0.2, steps: 2 }, { onProgress });
    // The SDK drops a last step that comes together with the answer.
    expect(steps.slice(0, 1)).toEqual([1]);
    const stop = new AbortController();
    const running = link.callTool(name, { duration: 60, steps: 2 }, { signal: stop.signal });
    setTimeout(() => stop.abort(), 50);
    await expect(running).rejects.toMatchObject({ code: 'cancelled' });
    const late = link.callTool(name, { duration: 60, steps: 2 }, { timeoutMs: 50 });
    await expect(late).rejects.toMatchObject({ code: 'deadline' });
    expect(link.activeCount).toBe(0);
  }
});

test('what a server refuses says so in its own words', async () => {
  const link = await links.pool.open('con_http');
  const refused = link.readResource('demo://nothing/here');
  await expect(refused).rejects.toMatchObject({
    code: 'upstream',
    reason: 'server_error',
    detail: { code: expect.any(Number), message: expect.any(String) },
  });
});

test('the servers of files and of memory do their work', async () => {
  const files = await links.pool.open('con_filesystem');
  const read = await files.callTool('read_text_file', { path: join(folder, 'note.txt') });
  expect(JSON.stringify(read.content)).toContain('a note');
  const graph = await links.pool.open('con_memory');
  expect((await graph.learn()).tools.length).toBe(9);
});

test('a session that the server has forgotten is begun anew, and the call repeated', async () => {
  const link = await links.pool.open('con_http');
  child.kill('SIGKILL');
  await expect(link.callTool('echo', { message: 'down' })).rejects.toMatchObject({
    code: 'unavailable',
  });
  child = await startHttp();
  const answer = await link.callTool('echo', { message: 'again' });
  expect(answer.content).toEqual([{ type: 'text', text: 'Echo: again' }]);
});

test('a child that died is told as broken, and the next call starts another', async () => {
  const broken: string[] = [];
  const stop = links.pool.onBroken((id) => broken.push(id));
  const link = await links.pool.open('con_memory');
  const { pid } = link;
  process.kill(pid!, 'SIGKILL');
  await expect.poll(() => broken).toEqual(['con_memory']);
  expect(links.pool.peek('con_memory')).toBeUndefined();
  await expect
    .poll(
      () =>
        link.probe().then(
          () => 'well',
          () => 'down',
        ),
      { timeout: 10_000 },
    )
    .toBe('well');
  expect(link.pid).not.toBe(pid);
  stop();
});

test('2,000 calls through one link leave no listener and no warning behind', async () => {
  const warnings: Error[] = [];
  const hear = (warning: Error) => warnings.push(warning);
  process.on('warning', hear);
  const link = await links.pool.open('con_http');
  const { signal } = new AbortController();
  for (let round = 0; round < 250; round++) {
    const calls = Array.from({ length: 8 }, (_, at) =>
      link.callTool('echo', { message: String(at) }, { signal }),
    );
    await Promise.all(calls);
  }
  process.off('warning', hear);
  expect(warnings).toEqual([]);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});
