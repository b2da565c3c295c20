import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { readProcessTable } from '../../kit/processes/process-table.ts';
import { isAlive, listen, openProcessGround, type ProcessGround } from './testing.ts';

let ground: ProcessGround;

beforeAll(async () => {
  ground = await openProcessGround();
});

afterAll(async () => ground[Symbol.asyncDispose]());

/** A program that tells, in its first message, the numbers of the processes it has started. */
const starting = (children: string) => `
  import { spawn } from 'node:child_process';
  const idle = 'setInterval(() => {}, 1000)';
  const pids = [];
  const begin = (...args) => {
    const child = spawn(...args);
    child.unref();
    pids.push(child.pid);
  };
  ${children}
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id: 1, result: pids }) + '\\n');
  process.stdin.on('end', () => process.exit(0)).resume();`;

const spawnStarting = async (children: string) => {
  const order = await ground.write(starting(children));
  const server = await ground.supervision.spawn(order);
  const heard = await listen(server);
  const answer = await heard.next();
  const pids = 'result' in answer ? Object.values(answer.result).map(Number) : [];
  for (const pid of pids) expect(await isAlive(pid)).toBe(true);
  return { order, server, pids };
};

const expectGone = async (pids: readonly number[]) => {
  for (const pid of pids) expect(await isAlive(pid), String(pid)).toBe(false);
};

test('a process that ignores the end of its input and SIGTERM is killed', async () => {
  const order = await ground.write(`
    process.on('SIGTERM', () => {});
    setInterval(() => {}, 1000);
    process.stdout.write('{"jsonrpc":"2.0","method":"ready"}\\n');`);
  const server = await ground.supervision.spawn(order);
  const heard = await listen(server);
  await heard.next();
  const closing = server.transport.close();
  expect(heard.closedCount).toBe(1);
  await closing;
  expect(await server.ended).toBeUndefined();
  await expectGone([server.pid]);
});

test('a descendant in the group ends with it, and so does one that left the group', async () => {
  const { server, pids } = await spawnStarting(`
    begin(process.execPath, ['-e', idle]);
    begin(process.execPath, ['-e', idle], { detached: true, stdio: 'ignore' });`);
  expect(pids).toHaveLength(2);
  await server.transport.close();
  await expectGone([server.pid, ...pids]);
});

test('a descendant that left the group ends when the process crashes', async () => {
  const { server, pids } = await spawnStarting(`
    begin(process.execPath, ['-e', idle], { detached: true, stdio: 'ignore' });
    setTimeout(() => process.exit(1), 100);`);
  expect(await server.ended).toMatchObject({ reason: 'process_exited' });
  await expectGone([server.pid, ...pids]);
});

test('an orphan of the first hour, which nobody is the parent of, ends too', async () => {
  const order = await ground.write(`
    import { spawn } from 'node:child_process';
    const idle = 'setInterval(() => {}, 1000)';
    const deeper = 'const c = require("node:child_process").spawn(process.execPath, ["-e", ' +
      JSON.stringify(idle) + '], { detached: true, stdio: "ignore" }); console.log(c.pid); process.exit(0)';
    const middle = spawn(process.execPath, ['-e', deeper], { detached: true });
    middle.stdout.on('data', (pid) => middle.once('exit', () =>
      process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id: 1, result: { pid: Number(pid) } }) + '\\n')));
    process.stdin.on('end', () => process.exit(0)).resume();`);
  const server = await ground.supervision.spawn(order);
  const heard = await listen(server);
  const answer = await heard.next();
  const pid = 'result' in answer ? Number(answer.result['pid']) : 0;
  expect(await isAlive(pid)).toBe(true);
  await server.transport.close();
  await expectGone([pid]);
});

test('a process that reads nothing is sent no more than a bound', async () => {
  const order = await ground.write('setInterval(() => {}, 1000);');
  const server = await ground.supervision.spawn(order);
  await listen(server);
  const large = { jsonrpc: '2.0' as const, method: 'x', params: { x: 'x'.repeat(600_000) } };
  const first = server.transport.send(large);
  const second = server.transport.send(large);
  await expect(server.transport.send(large)).rejects.toMatchObject({
    reason: 'process_not_reading',
  });
  const settled = Promise.allSettled([first, second]);
  await server.transport.close();
  expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
});

test('a real MCP server answers the client of the SDK', async () => {
  const everything = join('node_modules', '@modelcontextprotocol/server-everything/dist/index.js');
  const args = [resolve(everything), 'stdio'];
  const order = await ground.write('', { endpoint: { command: process.execPath, args } });
  const server = await ground.supervision.spawn(order);
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(server.transport);
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toContain('echo');
  const answer = await client.callTool({ name: 'echo', arguments: { message: 'ä\n🙂' } });
  expect(answer.content).toEqual([{ type: 'text', text: 'Echo: ä\n🙂' }]);
  await client.close();
  await expectGone([server.pid]);
});

test('a process that uses too much memory is ended', async () => {
  const supervision = await ground.reopen({ memoryMaxBytes: 150_000_000, watchIntervalMs: 50 });
  const order = await ground.write(
    'const kept = []; setInterval(() => kept.push(Buffer.alloc(10_000_000, 1)), 10);',
  );
  const server = await supervision.spawn(order);
  await listen(server);
  expect(await server.ended).toMatchObject({
    code: 'unavailable',
    reason: 'memory_exceeded',
    detail: { memoryMaxBytes: 150_000_000 },
  });
  await expectGone([server.pid]);
  await supervision[Symbol.asyncDispose]();
});

test('a process that starts more and more others is ended with all of them', async () => {
  const supervision = await ground.reopen({ processesMax: 5, watchIntervalMs: 50 });
  const order = await ground.write(`
    import { spawn } from 'node:child_process';
    setInterval(() => spawn('cat', { detached: true, stdio: 'pipe' }), 20);`);
  const before = new Set((await readProcessTable()).keys());
  const server = await supervision.spawn(order);
  await listen(server);
  expect(await server.ended).toMatchObject({ reason: 'processes_exceeded' });
  const left = [...(await readProcessTable()).values()].filter(
    ({ pid, parent }) => !before.has(pid) && parent === server.pid,
  );
  expect(left).toEqual([]);
  await expectGone([server.pid]);
  await supervision[Symbol.asyncDispose]();
});

test('a registry that is killed leaves no process after the next start', async () => {
  const order = await ground.write('setInterval(() => {}, 1000);');
  const script = join(ground.folder, 'registry.mts');
  const testing = pathToFileURL(resolve('src/registry/processes/testing.ts')).href;
  await writeFile(
    script,
    `import { openProcessGround } from '${testing}';
    const ground = await openProcessGround({ folder: '${join(ground.folder, 'processes')}' });
    const server = await ground.supervision.spawn(${JSON.stringify(order)});
    console.log(server.pid);`,
  );
  const args = ['--import', import.meta.resolve('tsx'), script];
  const registry = spawn(process.execPath, args, {
    env: { PATH: process.env['PATH'], TMPDIR: ground.folder },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [pid] = (await once(registry.stdout, 'data')).map(Number);
  const exited = once(registry, 'exit');
  registry.kill('SIGKILL');
  await exited;
  expect(await isAlive(pid ?? 0)).toBe(true);
  const next = await ground.reopen();
  await expectGone([pid ?? 0]);
  await next[Symbol.asyncDispose]();
});

test('what an earlier start has left running is ended at the next start', async () => {
  const { order, server, pids } = await spawnStarting(
    "begin(process.execPath, ['-e', idle], { detached: true, stdio: 'ignore' });",
  );
  const file = join(ground.folder, 'processes', order.id, 'process.json');
  const note = JSON.parse(await readFile(file, 'utf8'));
  const others = await ground.reopen();
  expect(await isAlive(server.pid)).toBe(true);
  await others[Symbol.asyncDispose]();
  await writeFile(file, JSON.stringify({ ...note, owner: { pid: 4_194_304, startedAt: '1' } }));
  const next = await ground.reopen();
  await expectGone([server.pid, ...pids]);
  await expect(readFile(file)).rejects.toThrow('ENOENT');
  await next[Symbol.asyncDispose]();
});

test('a note about a number that is another process by now kills nothing', async () => {
  const { order, server } = await spawnStarting('');
  const file = join(ground.folder, 'processes', order.id, 'process.json');
  const note = JSON.parse(await readFile(file, 'utf8'));
  const stale = { pid: server.pid, startedAt: '1' };
  const owner = { pid: 4_194_304, startedAt: '1' };
  await writeFile(file, JSON.stringify({ ...note, process: stale, mark: 'X=other', owner }));
  const next = await ground.reopen();
  expect(await isAlive(server.pid)).toBe(true);
  await next[Symbol.asyncDispose]();
  await server.transport.close();
});

test('fifty openings and closings leave no process and no listener', async () => {
  const warned = vi.fn<(warning: Error) => void>();
  const countListeners = () =>
    process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0);
  const listenersBefore = countListeners();
  process.on('warning', warned);
  const opened = new Set<number>();
  const order = await ground.write('', { endpoint: { command: 'cat', args: [] } });
  for (let round = 0; round < 50; round += 1) {
    const server = await ground.supervision.spawn(order);
    const heard = await listen(server);
    opened.add(server.pid);
    await server.transport.send({ jsonrpc: '2.0', id: round, method: 'ping' });
    expect(await heard.next()).toMatchObject({ id: round });
    await server.transport.close();
    await expectGone([server.pid]);
  }
  process.off('warning', warned);
  const own = [...(await readProcessTable()).values()].filter(
    ({ pid, group }) => opened.has(pid) || opened.has(group),
  );
  expect(own).toEqual([]);
  expect(countListeners()).toBe(listenersBefore);
  expect(warned).not.toHaveBeenCalled();
  expect(ground.supervision.size).toBe(0);
});
