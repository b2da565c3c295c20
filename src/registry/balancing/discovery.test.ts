import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Contract } from '../../kit/contract.ts';
import { plainEnvelope } from '../../kit/envelope.ts';
import { createTestServer } from '../../kit/testing.ts';
import type { RegistryEvent } from '../events.ts';
import { balancingHandlers } from '../routes/balancing.ts';
import { balancingRoutes } from '../schemas/balancing.ts';
import { Discovery } from './discovery.ts';
import { LoadReporter } from './load-report.ts';
import { Statistics } from './statistics.ts';
import { BalancingGround, connectionOf } from './testing.ts';

const contract = {
  name: 'registry',
  title: 'Registry',
  version: '0.2.0',
  description: 'Discovery alone.',
  error: plainEnvelope.schema,
  routes: balancingRoutes,
} as const satisfies Contract;

const connections = [
  connectionOf(0, ['read', 'write']),
  connectionOf(1, ['read'], { protocol: 'stdio', endpoint: { command: 'npx', args: ['x'] } }),
  connectionOf(2, ['read', 'write'], { status: 'idle', type: 'client' }),
  connectionOf(3, ['read'], { status: 'error' }),
  connectionOf(4, ['read'], { status: 'disconnected' }),
];

let ground: BalancingGround;
let loads: LoadReporter;
let events: RegistryEvent[];
let server: Awaited<ReturnType<typeof createTestServer>>;
let token: string;

beforeAll(async () => {
  server = await createTestServer(contract);
  // The ground is another one for each test.
  const handlers = {
    discovery: {
      discover: (query: Parameters<Discovery['discover']>[0]) => parts().discovery.discover(query),
    },
    statistics: {
      read: () => parts().statistics.read(),
      capabilities: (query: Parameters<Statistics['capabilities']>[0]) =>
        parts().statistics.capabilities(query),
    },
    loads: { report: (limit: number) => loads.report(limit) },
  };
  server.http.serve(contract, balancingHandlers(handlers));
  token = await server.issuer.sign();
});

afterAll(() => server.http.close(0));

beforeEach(() => {
  ground = new BalancingGround(connections);
  loads = new LoadReporter(ground.balancer);
  events = [];
});

function parts() {
  const { balancer, directory } = ground;
  const sink = { tell: (event: RegistryEvent) => void events.push(event) };
  const ledger = {
    overall: () => ({ requestsPerSecond: 0.5, averageLatency: 12, errorRate: 0.25 }),
    ofCapability: (name: string) => ({
      totalRequests: name === 'read' ? 3 : 0,
      averageLatency: name === 'read' ? 12 : 0,
    }),
  };
  return {
    discovery: new Discovery({ balancer, events: sink }),
    statistics: new Statistics({ directory, ledger, balancer }),
  };
}

async function ask(method: 'GET' | 'POST', url: string, payload?: object) {
  const headers = { authorization: `Bearer ${token}` };
  const response = await server.http.app.inject({
    method,
    url,
    headers,
    ...(payload ? { payload } : {}),
  });
  return { status: response.statusCode, body: response.json() };
}

async function discover(body: object) {
  const { status, body: answer } = await ask('POST', '/connections/discover', body);
  expect(status).toBe(200);
  return {
    ...answer,
    names: answer.connections.map(({ name }: { readonly name: string }) => name),
  };
}

test('nobody discovers without a token', async () => {
  const { app } = server.http;
  const discovered = await app.inject({
    method: 'POST',
    url: '/connections/discover',
    payload: {},
  });
  expect(discovered.statusCode).toBe(401);
  for (const url of ['/capabilities', '/registry/stats', '/load-balancing/distribution']) {
    expect((await app.inject({ url })).statusCode).toBe(401);
  }
});

test.each([
  { capabilities: 'read' },
  { capabilities: [''] },
  { filters: { status: 'gone' } },
  { filters: { minUptime: -1 } },
  { filters: { minUptime: 1.5 } },
  { loadBalancing: { strategy: 'best' } },
  { loadBalancing: { maxConnections: 0 } },
  { loadBalancing: 'yes' },
])('%j is refused', async (body) => {
  expect((await ask('POST', '/connections/discover', body)).status).toBe(400);
});

test('without balancing the order is that of registration', async () => {
  expect(await discover({ capabilities: ['read'] })).toMatchObject({
    names: ['server-0', 'server-1', 'server-2'],
    totalMatching: 3,
    loadBalanced: false,
    strategy: 'none',
  });
});

test('all capabilities are wanted', async () => {
  expect((await discover({ capabilities: ['read', 'write'] })).names).toEqual([
    'server-0',
    'server-2',
  ]);
  expect(await discover({ capabilities: ['read', 'fly'] })).toMatchObject({
    names: [],
    totalMatching: 0,
  });
  expect((await discover({})).totalMatching).toBe(3);
});

test('filters narrow the answer, and only one shows errors', async () => {
  const found = async (filters: object) =>
    (await discover({ capabilities: ['read'], filters })).names;
  expect(await found({ status: 'idle' })).toEqual(['server-2']);
  expect(await found({ status: 'error' })).toEqual(['server-3']);
  expect(await found({ status: 'disconnected' })).toEqual([]);
  expect(await found({ protocol: 'stdio' })).toEqual(['server-1']);
  expect(await found({ type: 'client' })).toEqual(['server-2']);
});

test('minUptime asks for seconds since the last failure', async () => {
  const { health } = connectionOf(0, []);
  const { upSinceMs: _up, ...down } = health;
  const upSinceMs = ground.nowMs - 60_000;
  ground.directory.put(
    connectionOf(0, ['read'], { revision: 2, health: { ...health, upSinceMs } }),
  );
  ground.directory.put(connectionOf(1, ['read'], { revision: 2, health: down }));
  const found = async (minUptime: number) =>
    (await discover({ capabilities: ['read'], filters: { minUptime } })).names;
  expect(await found(0)).toEqual(['server-0', 'server-2']);
  expect(await found(60)).toEqual(['server-0', 'server-2']);
  expect(await found(61)).toEqual(['server-2']);
});

test('a connection is answered whole, with its load and why, without its secrets', async () => {
  ground.end('con_00000', false, 20);
  ground.meterOf('con_00000').ownActive = 4;
  const {
    connections: [first],
  } = await discover({
    capabilities: ['read', 'write'],
    filters: { type: 'server' },
    loadBalancing: { strategy: 'least-loaded', maxConnections: 5 },
  });
  expect(first).toEqual({
    id: 'con_00000',
    name: 'server-0',
    type: 'server',
    protocol: 'http',
    status: 'active',
    capabilities: ['read', 'write'],
    endpoint: { url: 'http://server-0.test/mcp', headers: { authorization: '***' } },
    metadata: {},
    createdAt: '2023-11-14T22:13:20.000Z',
    lastActiveAt: '2023-11-14T22:13:20.000Z',
    health: {
      status: 'healthy',
      lastCheck: '2023-11-14T22:13:20.000Z',
      errorRate: 0.25,
      uptime: 100_000_000,
    },
    metrics: { requestsPerMinute: 1, averageLatency: 20, activeConnections: 4 },
    load: 0.25,
    why: 'least-loaded: 4 of 16 in use',
  });
});

test('the summary follows a change', async () => {
  await discover({ capabilities: ['read'] });
  ground.directory.put(connectionOf(0, ['read', 'extra'], { revision: 2, name: 'renamed' }));
  const {
    connections: [first],
  } = await discover({ capabilities: ['extra'] });
  expect(first).toMatchObject({ name: 'renamed', capabilities: ['read', 'extra'] });
});

test('what was told before is told anew when figures or time have changed it', async () => {
  const told = async () => {
    const loadBalancing = { strategy: 'least-loaded' };
    const asked = { capabilities: ['write'], filters: { type: 'server' }, loadBalancing };
    const [one] = (await discover(asked)).connections;
    return [one.load, one.why, one.metrics.requestsPerMinute, one.health.uptime];
  };
  const why = (active: number) => `least-loaded: ${active} of 16 in use`;
  expect(await told()).toEqual([0, why(0), 0, 100_000_000]);
  expect(await told()).toEqual([0, why(0), 0, 100_000_000]);
  ground.meterOf('con_00000').ownActive = 8;
  expect(await told()).toEqual([0.5, why(8), 0, 100_000_000]);
  ground.end('con_00000', false, 20);
  expect(await told()).toEqual([0.5, why(8), 1, 100_000_000]);
  ground.nowMs += 61_000;
  expect(await told()).toEqual([0.5, why(8), 0, 100_000_061]);
});

test('a new connection says how much of its share it gets by then', async () => {
  ground.directory.put(connectionOf(9, ['young'], { createdAtMs: ground.nowMs - 9_000 }));
  const why = async () =>
    (await discover({ capabilities: ['young'], loadBalancing: {} })).connections[0].why;
  expect(await why()).toContain('new, at 30 % of its share');
  ground.nowMs += 12_000;
  expect(await why()).toContain('new, at 70 % of its share');
  ground.nowMs += 9_000;
  expect(await why()).not.toContain('new');
});

test('a name in any script is told as it is', async () => {
  ground.directory.put(connectionOf(9, ['wörter 词'], { metadata: { ort: 'Zürich 😀' } }));
  const [found] = (await discover({ capabilities: ['wörter 词'] })).connections;
  expect(found).toMatchObject({ capabilities: ['wörter 词'], metadata: { ort: 'Zürich 😀' } });
});

test('maxConnections bounds what is returned, not what is counted', async () => {
  const loadBalancing = { maxConnections: 1 };
  const answer = await discover({ capabilities: ['read'], loadBalancing });
  expect(answer).toMatchObject({ totalMatching: 3, loadBalanced: true, strategy: 'power-of-two' });
  expect(answer.connections).toHaveLength(1);
});

test('each strategy answers every connection once', async () => {
  for (const strategy of ['least-loaded', 'round-robin', 'p2c', 'latency', 'consistent-hash']) {
    const answer = await discover({ capabilities: ['read'], loadBalancing: { strategy } });
    expect(answer.names.toSorted()).toEqual(['server-0', 'server-1', 'server-2']);
    expect(answer.strategy).toBe(strategy === 'p2c' ? 'power-of-two' : strategy);
  }
});

test.each([undefined, 1, 2, 3, 100])(
  'round-robin gives the first place in turn when %s are asked for',
  async (maxConnections) => {
    const loadBalancing = { strategy: 'round-robin', maxConnections };
    const firsts: (string | undefined)[] = [];
    for (let turn = 0; turn < 6; turn += 1) {
      firsts.push((await discover({ capabilities: ['read'], loadBalancing })).names[0]);
    }
    expect(new Set(firsts)).toEqual(new Set(['server-0', 'server-1', 'server-2']));
    expect(firsts.slice(3)).toEqual(firsts.slice(0, 3));
  },
);

test('consistent-hash goes by who asks when no key is given', async () => {
  const hashed = (key?: string) =>
    discover({ capabilities: ['read'], loadBalancing: { strategy: 'consistent-hash', key } });
  expect((await hashed()).names).toEqual((await hashed('usr_test')).names);
});

test('outliers stand last and say why', async () => {
  ground.fail('con_00000', 5);
  const loadBalancing = { strategy: 'round-robin' };
  const { connections: found } = await discover({ capabilities: ['read'], loadBalancing });
  expect(found.at(-1)).toMatchObject({
    name: 'server-0',
    why: 'last: kept out for 30 s more after 5 failures in a row',
  });
});

test('each capability that is asked for is told to the stream', async () => {
  await discover({ capabilities: ['read', 'write'] });
  await discover({ capabilities: ['fly'] });
  const timestamp = new Date(ground.nowMs).toISOString();
  const type = 'capability-request';
  const found = { type, connectionId: 'con_00000', timestamp, outcome: 'discovered' };
  expect(events).toEqual([
    { ...found, capability: 'read' },
    { ...found, capability: 'write' },
    { type, capability: 'fly', timestamp, outcome: 'none-found' },
  ]);
});

test('capabilities are counted, sought and paged', async () => {
  const { body } = await ask('GET', '/capabilities');
  expect(body).toEqual({
    capabilities: [
      {
        name: 'read',
        description: 'does read',
        providers: 4,
        totalRequests: 3,
        averageLatency: 12,
      },
      {
        name: 'write',
        description: 'does write',
        providers: 2,
        totalRequests: 0,
        averageLatency: 0,
      },
    ],
    totalCapabilities: 2,
  });
  const names = async (query: string) => {
    const { body: page } = await ask('GET', `/capabilities?${query}`);
    return [page.totalCapabilities, ...page.capabilities.map((one: { name: string }) => one.name)];
  };
  expect(await names('prefix=wr')).toEqual([1, 'write']);
  expect(await names('q=DOES%20W')).toEqual([1, 'write']);
  expect(await names('limit=1&offset=1')).toEqual([2, 'write']);
});

test('statistics count connections by status and protocol', async () => {
  const { body } = await ask('GET', '/registry/stats');
  expect(body).toEqual({
    timestamp: new Date(ground.nowMs).toISOString(),
    connections: { total: 5, active: 2, idle: 1, disconnected: 1, error: 1 },
    protocols: { stdio: 1, http: 4, websocket: 0 },
    capabilities: { total: 2, mostUsed: [{ name: 'read', requests: 3 }] },
    performance: { averageLatency: 12, requestsPerSecond: 0.5, errorRate: 0.25 },
  });
});

test('the distribution shows the busiest first, and without load advises nothing', async () => {
  ground.meterOf('con_00001').ownActive = 8;
  ground.end('con_00001', false, 20);
  const { body } = await ask('GET', '/load-balancing/distribution');
  expect(body.strategy).toBe('power-of-two');
  expect(body.connections[0]).toEqual({
    id: 'con_00001',
    name: 'server-1',
    load: 0.5,
    activeRequests: 8,
    capacity: 16,
    weight: 1,
    status: 'active',
    requestsPerMinute: 1,
    averageLatency: 20,
    p95Latency: expect.closeTo(20, 0),
    errorRate: 0,
  });
  expect(body.connections).toHaveLength(4);
  expect(body.recommendations).toEqual([]);
});

test('a pool in which requests wait is to be enlarged, once for all that it offers', async () => {
  ground.meterOf('con_00000').ownActive = 20;
  ground.meterOf('con_00002').ownActive = 12;
  const { body } = await ask('GET', '/load-balancing/distribution');
  const ofWrite = body.recommendations.find(
    (one: { capability: string }) => one.capability === 'write',
  );
  expect(ofWrite).toEqual({
    action: 'scale-up',
    reason: '4 requests wait: one of 2 connections has more than it takes at once',
    suggestedConnections: 2,
    capability: 'write',
    capabilities: [],
    evidence: {
      providers: 2,
      working: 2,
      ejected: 0,
      capacity: 32,
      activeRequests: 32,
      queued: 4,
      utilisation: 1,
      requestsPerMinute: 0,
      errorRate: 0,
      p95Latency: 0,
      usualP95Latency: 0,
    },
  });
});

test('failures are to be investigated, not answered with more of the same', async () => {
  for (let time = 0; time < 20; time += 1) ground.end('con_00001', time % 2 === 0);
  const { body } = await ask('GET', '/load-balancing/distribution');
  expect(body.recommendations).toHaveLength(1);
  expect(body.recommendations[0]).toMatchObject({
    action: 'investigate',
    reason: "50 % of the last minute's requests failed",
    suggestedConnections: 0,
    capability: 'read',
  });
});

test('a pool that has been idle for long is to be reduced, to two at least', async () => {
  ground.nowMs += 300_000;
  const { body } = await ask('GET', '/load-balancing/distribution');
  expect(body.recommendations).toHaveLength(1);
  expect(body.recommendations[0]).toMatchObject({
    action: 'scale-down',
    suggestedConnections: 1,
    capability: 'read',
    reason: '0 % of a capacity of 48 requests is in use',
  });
});
