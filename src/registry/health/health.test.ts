import { createMcpHandler, Server } from '@modelcontextprotocol/server';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TestClient } from '../../kit/sockets/testing.ts';
import { findFreePort } from '../../kit/testing.ts';
import { fromWeb, serve, type TestServer } from '../links/testing.ts';
import { startRegistry } from '../testing.ts';

type Registry = Awaited<ReturnType<typeof startRegistry>>;

let registry: Registry;
let call: Awaited<ReturnType<Registry['callAs']>>;
let good: TestServer;
let bad: TestServer;

beforeAll(async () => {
  good = await serve(fromWeb(toolServer()));
  bad = await serve((request, response) => {
    if (request.url === '/html') response.end('<h1>hello</h1>');
    else if (request.url === '/locked') response.writeHead(401).end();
  });
  registry = await startRegistry();
  call = await registry.callAs('usr_owner');
});

afterAll(async () => {
  await registry[Symbol.asyncDispose]();
  await good[Symbol.asyncDispose]();
  await bad[Symbol.asyncDispose]();
});

function toolServer(): (request: Request) => Promise<Response> {
  const handler = createMcpHandler(() => {
    const server = new Server({ name: 'one', version: '1.0.0' }, { capabilities: { tools: {} } });
    const inputSchema = { type: 'object' } as const;
    server.setRequestHandler('tools/list', () => ({ tools: [{ name: 'one', inputSchema }] }));
    return server;
  });
  return (request) => handler.fetch(request);
}

/** Registers an HTTP server and answers its id. */
async function register(name: string, url: string, over = {}): Promise<string> {
  const { status, body } = await call('POST', '/connections', {
    name,
    type: 'server',
    protocol: 'http',
    endpoint: { url },
    capabilities: [],
    healthCheck: { enabled: true, interval: 3_600, timeout: 2_000 },
    ...over,
  });
  expect({ status, body }).toMatchObject({ status: 201 });
  return body.id;
}

const at = (path: string) => bad.url.replace('/mcp', path);

test('a server that works is checked at once, and its tools are known after a check', async () => {
  const id = await register('good', good.url);
  const { status, body } = await call('POST', `/connections/${id}/health-check`);
  expect(status).toBe(200);
  expect(body).toEqual({
    connectionId: id,
    health: {
      status: 'healthy',
      responseTime: expect.any(Number),
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
    },
    diagnostics: {
      processRunning: null,
      memoryUsage: null,
      cpuUsage: null,
      activeRequests: 0,
      linkOpen: true,
      sessionEra: 'modern',
      protocolVersion: '2026-07-28',
    },
  });
  const detail = await call('GET', `/connections/${id}`);
  expect(detail.body).toMatchObject({ status: 'active', health: { status: 'healthy' } });
  expect(detail.body.health.checksPerformed).toBeGreaterThan(0);
  expect(JSON.stringify(detail.body.capabilities)).toContain('"one"');
});

test('a server that is down answers 200 all the same, with the reason, and moves the states', async () => {
  const id = await register('down', `http://127.0.0.1:${await findFreePort()}/mcp`);
  const path = `/connections/${id}/health-check`;
  const answers = [await call('POST', path), await call('POST', path), await call('POST', path)];
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(answers.at(-1)?.body.health).toMatchObject({
    status: 'error',
    reason: 'unreachable',
    message: 'no MCP server answered there',
  });
  const { body } = await call('GET', `/connections/${id}`);
  expect(body).toMatchObject({ status: 'error', health: { status: 'error' } });
});

test('a server that takes the question and never answers is told as a timeout', async () => {
  const healthCheck = { enabled: true, interval: 3_600, timeout: 200 };
  const id = await register('hanging', at('/hangs'), { healthCheck });
  const { body } = await call('POST', `/connections/${id}/health-check`);
  expect(body.health).toMatchObject({ reason: 'timeout' });
});

test('what is no MCP server, and what wants an authorization, is named so', async () => {
  const [html, locked] = [
    await register('html', at('/html')),
    await register('locked', at('/locked')),
  ];
  const reasonOf = async (id: string): Promise<string> =>
    (await call('POST', `/connections/${id}/health-check`)).body.health.reason;
  expect(await reasonOf(html)).toBe('not_mcp');
  expect(await reasonOf(locked)).toBe('authorization_required');
});

test('many are checked within the time, in order, unknown ones told as such', async () => {
  const ids = await Promise.all([
    register('many-good', good.url),
    register('many-silent', at('/silent')),
    register('many-html', at('/html')),
  ]);
  const connectionIds = [...ids, 'con_nobody'];
  const begunMs = performance.now();
  const body = { connectionIds, timeout: 700 };
  const answer = await call('POST', '/connections/health-check/batch', body);
  expect(performance.now() - begunMs).toBeLessThan(1_900);
  expect(answer.status).toBe(200);
  expect(answer.body).toEqual({
    results: [
      { connectionId: ids[0], status: 'healthy', responseTime: expect.any(Number) },
      { connectionId: ids[1], status: 'error', error: 'no verdict within 700 ms' },
      {
        connectionId: ids[2],
        status: expect.any(String),
        error: expect.stringMatching(/^not_mcp/),
      },
      { connectionId: 'con_nobody', status: 'error', error: 'no such connection' },
    ],
    summary: { total: 4, healthy: 1, unhealthy: 3 },
  });
});

test('checks of what is not known, or by who may not ask, are refused', async () => {
  const unknown = await call('POST', '/connections/con_nobody/health-check');
  expect(unknown).toMatchObject({
    status: 404,
    body: { error: { code: 'CONNECTION_NOT_FOUND', details: { connectionId: 'con_nobody' } } },
  });
  const reader = await registry.callAs('usr_reader', []);
  expect((await reader('POST', '/connections/con_x/health-check')).status).toBe(403);
  const executor = await registry.callAs('usr_agent', ['agent:execute']);
  const body = { connectionIds: [] };
  expect((await executor('POST', '/connections/health-check/batch', body)).status).toBe(200);
  for (const wrong of [{}, { connectionIds: Array(1_001).fill('c') }, { ...body, timeout: 0 }]) {
    expect((await call('POST', '/connections/health-check/batch', wrong)).status).toBe(400);
  }
});

test('the stream tells what was subscribed to, replays, and refuses what it does not know', async () => {
  const authorization = `Bearer ${await registry.tokenOf('usr_reader', [])}`;
  const follow = () =>
    new TestClient(`${registry.url}/registry/stream`, { headers: { authorization } }).opened();
  const client = await follow();
  client.send({ action: 'subscribe', events: ['connection-status', 'gossip'] });
  expect(await client.next()).toMatchObject({ type: 'error', error: { code: 'VALIDATION_ERROR' } });
  client.send({ action: 'subscribe', events: ['health-check'], ack: true });
  const { seq } = (await client.next()) as { seq: number };
  const id = await register('streamed', good.url);
  const told = {
    type: 'health-check',
    connectionId: id,
    health: 'healthy',
    responseTime: expect.any(Number),
    timestamp: expect.any(String),
    seq: expect.any(Number),
  };
  expect(await client.next()).toEqual(told);
  client.socket.close();
  const again = await follow();
  again.send({ action: 'subscribe', after: seq });
  expect(await again.next()).toMatchObject({
    type: 'connection-status',
    connectionId: id,
    status: 'active',
    change: 'registered',
  });
  expect(await again.next()).toEqual(told);
  again.socket.close();
});

test('health and metrics tell what was measured', async () => {
  const { body } = await call('GET', '/health');
  expect(body).toMatchObject({
    status: 'healthy',
    version: '0.2.0',
    uptime: expect.any(Number),
    performance: { requestsPerSecond: 0, averageLatency: 0 },
  });
  const { connections, healthy, unhealthy } = body.registry;
  expect(connections).toBeGreaterThan(4);
  expect(healthy).toBeGreaterThan(1);
  expect(unhealthy).toBeGreaterThan(1);
  const text = await (await fetch(`${registry.url}/metrics`)).text();
  expect(text).toMatch(/^registry_connections\{status="active",protocol="http"\} [1-9]/m);
  expect(text).toContain('registry_connections{status="idle",protocol="stdio"} 0');
  expect(text).toMatch(/^registry_health_checks_total\{outcome="success"\} [1-9]/m);
  expect(text).toMatch(/^registry_health_checks_total\{outcome="failure"\} [1-9]/m);
  expect(text).toMatch(/^registry_health_check_seconds_count [1-9]/m);
  expect(text).toMatch(/^registry_sessions [1-9]/m);
  expect(text).toMatch(/^registry_children 0$/m);
  expect(text).toMatch(/^registry_health_checking 1$/m);
});
