import { access, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { SpawnedServer } from './spawned.ts';
import { isAlive, listen, openProcessGround, type ProcessGround } from './testing.ts';

const ping = { jsonrpc: '2.0' as const, id: 1, method: 'ping' };
/** Answers every message with what the expression gives, of `message`. */
const answering = (expression: string) => `
  import { createInterface } from 'node:readline';
  createInterface({ input: process.stdin }).on('line', (line) => {
    const message = JSON.parse(line);
    const result = ${expression};
    process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id: message.id, result }) + '\\n');
  });`;

let ground: ProcessGround;

beforeAll(async () => {
  ground = await openProcessGround({
    allow: `${process.execPath}; cat; sh -c **`,
    base: { PATH: process.env['PATH'], HOME: '/nowhere', LANG: 'C', MY_SECRET: 'of the suite' },
  });
});

afterAll(async () => ground[Symbol.asyncDispose]());

const ask = async (server: SpawnedServer) => {
  const heard = await listen(server);
  await server.transport.send(ping);
  return heard.next();
};

test('a command without approval is never run', async () => {
  const marker = join(ground.folder, 'ran-1');
  const order = await ground.write(`import fs from 'node:fs'; fs.writeFileSync('${marker}', '');`);
  const { approval: _, ...unapproved } = order;
  await expect(ground.supervision.spawn(unapproved)).rejects.toMatchObject({
    code: 'forbidden',
    reason: 'approval_required',
  });
  await expect(access(marker)).rejects.toThrow('ENOENT');
});

test('a command that the list does not hold is never run', async () => {
  const endpoint = { command: '/bin/echo', args: ['; id'] };
  const order = await ground.write('', { endpoint });
  await expect(ground.supervision.spawn(order)).rejects.toMatchObject({
    code: 'forbidden',
    reason: 'command_not_allowed',
  });
  expect(ground.supervision.size).toBe(0);
});

test('a variable that decides what code runs is refused before the start as well', async () => {
  const { endpoint, ...order } = await ground.write('');
  const armed = { ...endpoint, env: { NODE_OPTIONS: '--inspect' } };
  await expect(ground.supervision.spawn({ ...order, endpoint: armed })).rejects.toMatchObject({
    reason: 'variable_not_allowed',
  });
});

test('arguments reach the program as they are: there is no shell', async () => {
  const { endpoint, ...order } = await ground.write(answering('process.argv.slice(2)'));
  const metacharacters = ['; rm -rf /', '$(id)', '`id`', '| cat', '> /tmp/x', '*', '', '"', "'"];
  const args = [...endpoint.args, ...metacharacters];
  const server = await ground.supervision.spawn({ ...order, endpoint: { ...endpoint, args } });
  expect(await ask(server)).toEqual({ jsonrpc: '2.0', id: 1, result: metacharacters });
  await server.transport.close();
});

test('a process sees none of our variables and works in a private folder of its own', async () => {
  const { endpoint, ...order } = await ground.write(
    answering('({ env: process.env, cwd: process.cwd() })'),
  );
  const env = { API_KEY: 'given' };
  const server = await ground.supervision.spawn({ ...order, endpoint: { ...endpoint, env } });
  const answer = await ask(server);
  await server.transport.close();
  const folder = join(ground.folder, 'processes', order.id, 'work');
  const inherited = { PATH: process.env['PATH'], HOME: '/nowhere', LANG: 'C' };
  const mark = { ENNEAD_REGISTRY_PROCESS: expect.any(String) };
  expect(answer).toMatchObject({ result: { cwd: folder } });
  expect(answer).toHaveProperty('result.env', { ...inherited, ...mark, API_KEY: 'given' });
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
});

test('a process that ends in the middle of a call fails the link and tells why', async () => {
  const { endpoint, ...order } = await ground.write(
    `process.stdin.once('data', () => { console.error('lost my', process.env.API_KEY); process.exit(3); });`,
  );
  const server = await ground.supervision.spawn({
    ...order,
    endpoint: { ...endpoint, env: { API_KEY: 'precious' } },
  });
  const heard = await listen(server);
  await server.transport.send(ping);
  const fault = await server.ended;
  expect(fault).toMatchObject({
    code: 'unavailable',
    reason: 'process_exited',
    detail: { exitCode: 3, stderr: 'lost my ***' },
  });
  expect(heard.errors).toEqual([fault]);
  expect(heard.closedCount).toBe(1);
  await expect(server.transport.send(ping)).rejects.toBe(fault);
  await server.transport.close();
  expect(heard.closedCount).toBe(1);
});

test('an answer under an id that nobody asked with is the failure of the one that waits', async () => {
  const order = await ground.write(
    `process.stdin.once('data', () => process.stdout.write('{"jsonrpc":"2.0","id":"another","result":{}}\\n'));`,
  );
  const server = await ground.supervision.spawn(order);
  const message = 'the server answered under another id than that of the request';
  expect(await ask(server)).toMatchObject({ id: 1, error: { message } });
  await server.transport.close();
});

test('the answer that a process writes just before its end is still heard', async () => {
  const order = await ground.write(
    `process.stdin.once('data', () => { process.stdout.write('{"jsonrpc":"2.0","id":1,"result":{}}\\n'); process.exit(0); });`,
  );
  const server = await ground.supervision.spawn(order);
  expect(await ask(server)).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
  await server.ended;
});

test('lines that are no MCP are passed over, a few of them', async () => {
  const order = await ground.write(
    `console.log('npm notice'); console.log('{"a":1}'); console.log('null'); console.log('');
     ${answering("'here'")}`,
  );
  const server = await ground.supervision.spawn(order);
  expect(await ask(server)).toMatchObject({ result: 'here' });
  await server.transport.close();
});

test('a process that writes nothing but garbage is ended', async () => {
  const order = await ground.write(
    `process.stdout.on('error', () => {}); setInterval(() => console.log('garbage\\n'.repeat(500)), 1);`,
  );
  const server = await ground.supervision.spawn(order);
  await listen(server);
  expect(await server.ended).toMatchObject({ code: 'upstream', reason: 'not_mcp' });
  expect(await isAlive(server.pid)).toBe(false);
});

test('a process that wrote no MCP before it ended tells what, without its secrets', async () => {
  const { endpoint, ...order } = await ground.write(
    `console.log('Usage: tool --key ' + process.env.API_KEY);`,
  );
  const env = { API_KEY: 'precious' };
  const server = await ground.supervision.spawn({ ...order, endpoint: { ...endpoint, env } });
  await listen(server);
  expect(await server.ended).toMatchObject({
    code: 'upstream',
    reason: 'not_mcp',
    message: "the server's process wrote what is no MCP, and ended with exit code 0",
    detail: { stdout: 'Usage: tool --key ***' },
  });
  const { stdout } = await ground.supervision.diagnostics(order.id);
  expect(stdout).toBe('Usage: tool --key ***');
});

test('an answer of 100 MB ends the process before it is whole', async () => {
  const order = await ground.write(
    `process.stdout.on('error', () => {}); process.stdout.write('"' + 'x'.repeat(100_000_000) + '"\\n'); setInterval(() => {}, 1000);`,
  );
  const server = await ground.supervision.spawn(order);
  const heard = await listen(server);
  expect(await server.ended).toMatchObject({ code: 'upstream', reason: 'answer_too_large' });
  expect(heard.closedCount).toBe(1);
  expect(await isAlive(server.pid)).toBe(false);
});

test('an answer that is too large fails its own request, and the process answers others', async () => {
  const order = await ground.write(answering(`message.id === 1 ? { text: 'x'.repeat(2e6) } : {}`));
  const server = await ground.supervision.spawn(order);
  const heard = await listen(server);
  await server.transport.send(ping);
  expect(await heard.next()).toMatchObject({
    id: 1,
    error: { data: { code: 'upstream', reason: 'answer_too_large' } },
  });
  await server.transport.send({ ...ping, id: 2 });
  expect(await heard.next()).toMatchObject({ id: 2, result: {} });
  expect(heard.closedCount).toBe(0);
  await server.transport.close();
});

test('a process that ends before anybody listens is told of to who listens', async () => {
  const order = await ground.write('', { endpoint: { command: 'sh', args: ['-c', 'exit 7'] } });
  const server = await ground.supervision.spawn(order);
  expect(await server.ended).toMatchObject({ detail: { exitCode: 7 } });
  await expect(server.transport.start()).rejects.toMatchObject({ reason: 'process_exited' });
});

test.each([0, 7])(
  'a process that left with %i before it was closed ended by itself',
  async (code) => {
    const args = ['-c', `exit ${code}`];
    const order = await ground.write('', { endpoint: { command: 'sh', args } });
    const server = await ground.supervision.spawn(order);
    await expect.poll(async () => (await server.diagnostics()).processRunning).toBe(false);
    await server.transport.close();
    expect(await server.ended).toMatchObject({ reason: 'process_exited' });
    expect(await ground.supervision.diagnostics(order.id)).toEqual({
      processRunning: false,
      lastEnd: `the server's process ended with exit code ${code}`,
    });
  },
);

test('a process that leaves while it is spoken to ended by itself, and waits after the second time', async () => {
  const order = await ground.write('process.exit(0);');
  for (const _ of [1, 2]) {
    const { transport } = await ground.supervision.spawn(order);
    const client = new Client({ name: 'test', version: '1' });
    await expect(client.connect(transport)).rejects.toThrow();
    await transport.close();
  }
  await expect(ground.supervision.spawn(order)).rejects.toMatchObject({
    reason: 'restarting_too_often',
    detail: { crashes: 2, lastEnd: "the server's process ended with exit code 0" },
  });
});

test('a second spawn for a connection ends the first process', async () => {
  const order = await ground.write(answering('process.pid'));
  const [one, two] = await Promise.all([
    ground.supervision.spawn(order),
    ground.supervision.spawn(order),
  ]);
  expect(one.pid).not.toBe(two.pid);
  expect(await isAlive(one.pid)).toBe(false);
  expect(await one.ended).toBeUndefined();
  expect(await ask(two)).toMatchObject({ result: two.pid });
  await two.transport.close();
});

test('a caller who gave up gets no process', async () => {
  const order = await ground.write('', { endpoint: { command: 'cat', args: [] } });
  const sizeBefore = ground.supervision.size;
  const given = ground.supervision.spawn(order, { signal: AbortSignal.abort() });
  await expect(given).rejects.toMatchObject({ code: 'cancelled' });
  const controller = new AbortController();
  const spawning = ground.supervision.spawn(order, { signal: controller.signal });
  await new Promise((resolve) => setImmediate(resolve));
  controller.abort();
  await expect(spawning).rejects.toMatchObject({ code: 'cancelled' });
  expect(ground.supervision.size).toBe(sizeBefore);
});

test('a server that crashes twice in a row is not started again at once', async () => {
  const order = await ground.write("console.error('no config'); process.exit(1);");
  for (const _ of [1, 2]) await (await ground.supervision.spawn(order)).ended;
  await expect(ground.supervision.spawn(order)).rejects.toMatchObject({
    code: 'unavailable',
    reason: 'restarting_too_often',
    retryAfter: 1,
    detail: { crashes: 2 },
  });
  expect(await ground.supervision.diagnostics(order.id)).toEqual({
    processRunning: false,
    lastEnd: "the server's process ended with exit code 1",
    stderr: 'no config',
  });
  const endpoint = { command: 'cat', args: [] };
  const other = await ground.supervision.spawn({ ...order, endpoint });
  await other.transport.close();
});

test('no more processes run at once than allowed', async () => {
  const supervision = await ground.reopen({ childrenMax: 2 });
  const endpoint = { command: 'cat', args: [] };
  const orders = await Promise.all([1, 2, 3].map(async () => ground.write('', { endpoint })));
  const spawned = await Promise.allSettled(orders.map(async (order) => supervision.spawn(order)));
  expect(spawned.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
  expect(spawned[2]).toMatchObject({ reason: { reason: 'too_many_processes' } });
  await supervision[Symbol.asyncDispose]();
  expect(supervision.size).toBe(0);
  const refused = supervision.spawn(await ground.write('', { endpoint }));
  await expect(refused).rejects.toMatchObject({ reason: 'stopping' });
});

test('a connection that is forgotten has no process and no folder', async () => {
  const order = await ground.write('', { endpoint: { command: 'cat', args: [] } });
  const server = await ground.supervision.spawn(order);
  const folder = join(ground.folder, 'processes', order.id);
  expect(JSON.parse(await readFile(join(folder, 'process.json'), 'utf8'))).toMatchObject({
    process: { pid: server.pid },
  });
  await ground.supervision.forget(order.id);
  expect(await isAlive(server.pid)).toBe(false);
  await expect(access(folder)).rejects.toThrow('ENOENT');
});
