import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMcpHandler, Server } from '@modelcontextprotocol/server';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { asShared, openTestTables } from '../kit/database/testing.ts';
import { callerWith } from '../kit/http/testing.ts';
import { Lifetime } from '../kit/lifecycle.ts';
import { listenAnywhere, silentLog, startService } from '../kit/testing.ts';
import { fromWeb, serve, type TestServer } from './links/testing.ts';
import { registry } from './service.ts';

/** Longer than the few seconds that a change may take. */
const soon = { timeout: 8_000 };

type Caller = ReturnType<typeof callerWith>;

const lifetime = new Lifetime(silentLog);
/** What each exchange brought to the server. */
const tokens: (string | null)[] = [];
let server: TestServer;
let one: Caller;
let other: Caller;

beforeAll(async () => {
  server = lifetime.own('the server', await serve(fromWeb(answerServer())));
  const tables = await openTestTables('registry', registry.migrations);
  const database = asShared(lifetime.own('the database', tables));
  const dataFolder = await mkdtemp(join(tmpdir(), 'ennead-replicas-'));
  lifetime.defer('the data folder', () => rm(dataFolder, { recursive: true }));
  const start = async (): Promise<Caller> => {
    const running = lifetime.own(
      'a registry',
      await startService(registry, { database, dataFolder }),
    );
    const permissions = ['registry:write', 'registry:call'];
    const token = await running.issuer.sign({ sub: 'usr_1', permissions });
    return callerWith(await listenAnywhere(running.host.http), token);
  };
  one = await start();
  other = await start();
});

afterAll(() => lifetime[Symbol.asyncDispose]());

function answerServer(): (request: Request) => Promise<Response> {
  const handler = createMcpHandler(() => {
    const mcp = new Server({ name: 'echo', version: '1.0.0' }, { capabilities: { tools: {} } });
    const inputSchema = { type: 'object' as const };
    mcp.setRequestHandler('tools/list', () => ({ tools: [{ name: 'echo', inputSchema }] }));
    mcp.setRequestHandler('tools/call', () => ({ content: [{ type: 'text', text: 'here' }] }));
    return mcp;
  });
  return (request) => {
    tokens.push(request.headers.get('x-key'));
    return handler.fetch(request);
  };
}

async function register(name: string): Promise<string> {
  const { body } = await one('POST', '/connections', {
    name,
    type: 'server',
    protocol: 'http',
    endpoint: { url: server.url, headers: { 'x-key': 'first' } },
  });
  return body.id;
}

test('replicas that no bus connects see what the others changed and ended', async () => {
  const id = await register('shared');
  const path = `/connections/${id}`;
  const read = async () => (await other('GET', path)).body;
  expect(await read()).toMatchObject({ name: 'shared' });
  // So that both have versions of their own.
  await one('POST', `${path}/health-check`);
  await other('POST', `${path}/health-check`);
  await one('PATCH', path, {
    metadata: { zone: 'b' },
    endpoint: { url: server.url, headers: { 'x-key': 'second' } },
  });
  await other('POST', `${path}/health-check`);
  await expect.poll(read, soon).toMatchObject({ metadata: { zone: 'b' } });
  tokens.length = 0;
  expect(await other('POST', `${path}/call`, { tool: 'echo' })).toMatchObject({ status: 200 });
  expect(new Set(tokens)).toEqual(new Set(['second']));
  await one('DELETE', path);
  await expect.poll(read, soon).toMatchObject({ status: 'disconnected' });
  expect(await other('POST', `${path}/call`, { tool: 'echo' })).toMatchObject({ status: 409 });
});

test('virtual servers come, change and go on replicas that no bus connects', async () => {
  const path = '/virtual-servers/subset';
  const read = async () => {
    const { status, body } = await other('GET', path);
    return status === 200 ? body.description : status;
  };
  const subset = { name: 'subset', tools: ['shared__*'] };
  await one('POST', '/virtual-servers', { ...subset, description: 'one' });
  await expect.poll(read, soon).toBe('one');
  await one('PUT', path, { ...subset, description: 'two' });
  await expect.poll(read, soon).toBe('two');
  await one('DELETE', path);
  await expect.poll(read, soon).toBe(404);
});
