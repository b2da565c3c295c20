import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Contract } from '../../kit/contract.ts';
import type { SuiteControl, SuiteMember } from '../../kit/service.ts';
import { createTestServer } from '../../kit/testing.ts';
import { Tracer } from '../../kit/trace/trace.ts';
import { chatEnvelope } from '../envelope.ts';
import { suiteRoutes } from '../schemas/suite.ts';
import { chatRate } from '../suite/completion-limit.ts';
import { createSuiteParts } from '../suite/suite-parts.ts';
import { suiteHandlers } from './suite.ts';

const contract = {
  name: 'chat',
  title: 'Chat',
  version: '0.1.0',
  description: 'Conversations.',
  error: chatEnvelope.schema,
  routes: suiteRoutes,
} as const satisfies Contract;

const names = ['mesh', 'auth', 'gateway', 'chat', 'registry', 'models', 'studio'];

/** A service whose health a test sets; `hang` never answers. */
const answers = new Map<string, object | 'hang'>();
let neighbour: Server;
let peers: { name: string; url: string; grants: string[] }[];
let members: SuiteMember[];
let server: Awaited<ReturnType<typeof createTestServer>>;
let isDatabaseUp = true;
/** Of the parts that a test has. */
let handlers: ReturnType<typeof suiteHandlers>;

/** Does as it is told, but for the registry, whose start fails. */
const suite: SuiteControl = {
  services: () => members,
  start: async (wanted) => change(wanted, 'running'),
  stop: async (wanted) => change(wanted, 'stopped'),
};

function change(wanted: readonly string[], status: 'running' | 'stopped') {
  const changed: string[] = [];
  const refused: { name: string; reason: string }[] = [];
  members = members.map((member) => {
    const { name } = member;
    if (!wanted.includes(name) || member.status === status) return member;
    if (member.status === 'elsewhere') {
      refused.push({ name, reason: 'it is not hosted by this process' });
      return member;
    }
    if (name === 'registry' && status === 'running') {
      refused.push({ name, reason: 'the port is taken' });
      return { ...member, failure: 'the port is taken' };
    }
    if (member.isLasting && status === 'stopped') {
      refused.push({ name, reason: 'it never stops by itself' });
      return member;
    }
    changed.push(name);
    return { ...member, status, sinceMs: Date.now() };
  });
  return { changed, refused };
}

beforeAll(async () => {
  neighbour = createServer((request, response) => {
    const answer = answers.get(request.url?.split('/')[1] ?? '');
    if (answer === 'hang') return;
    response.writeHead(answer ? 200 : 503, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer ?? {}));
  });
  await new Promise<void>((resolve) => neighbour.listen(0, '127.0.0.1', resolve));
  server = await createTestServer(contract, { envelope: chatEnvelope });
  server.http.serve(contract, {
    health: (call) => handlers.health(call),
    info: (call) => handlers.info(call),
    startServices: (call) => handlers.startServices(call),
    stopServices: (call) => handlers.stopServices(call),
    listContainers: (call) => handlers.listContainers(call),
    metrics: (call) => handlers.metrics(call),
  });
});

afterAll(() => {
  neighbour.closeAllConnections();
  neighbour.close();
});

beforeEach(() => {
  const { port } = neighbour.address() as AddressInfo;
  answers.clear();
  isDatabaseUp = true;
  for (const name of names) answers.set(name, { status: 'healthy', version: '2.0.0', uptime: 130 });
  peers = names.map((name) => ({ name, url: `http://127.0.0.1:${port}/${name}`, grants: [] }));
  members = peers.map(({ name, url }) => ({
    name,
    url,
    version: '1.0.0',
    status: 'running',
    isLasting: name === 'auth' || name === 'chat',
    sinceMs: Date.now() - 3 * 3_600_000,
  }));
  openParts();
});

/** New ones, which know nothing of how the others were before. */
function openParts(): void {
  const host = {
    peers,
    rate: chatRate,
    suite,
    tracer: new Tracer(() => {}),
    health: () => ({ status: 'healthy', version: '0.1.0', uptime: 5 }),
    database: {
      query: async () => {
        if (!isDatabaseUp) throw new Error('away');
        return [];
      },
    } as never,
  };
  handlers = suiteHandlers(createSuiteParts(host, contract));
}

/** As `suite:manage` unless told otherwise. */
async function ask(method: 'GET' | 'POST', url: string, body?: object, held = ['suite:manage']) {
  const token = await server.issuer.sign({ permissions: held });
  const answer = await server.http.app.inject({
    method,
    url,
    headers: { authorization: `Bearer ${token}` },
    ...(body ? { payload: body } : {}),
  });
  return { status: answer.statusCode, text: answer.body, body: parse(answer.body) };
}

function parse(text: string) {
  return text.startsWith('{') ? JSON.parse(text) : undefined;
}

function setStatus(name: string, status: SuiteMember['status']): void {
  members = members.map((member) => (member.name === name ? { ...member, status } : member));
}

describe('starting and stopping services', () => {
  test.each(['/api/cli/start', '/api/cli/stop', '/api/cli/status'])(
    '%s takes who may manage the suite',
    async (url) => {
      const method = url.endsWith('status') ? 'GET' : 'POST';
      expect((await ask(method, url, { profile: 'mesh' }, ['chat:admin'])).status).toBe(403);
      const anonymous = await server.http.app.inject({ method, url, payload: { profile: 'mesh' } });
      expect(anonymous.statusCode).toBe(401);
      expect(members.every(({ status }) => status === 'running')).toBe(true);
    },
  );

  test.each([{ profile: 'everything' }, { profile: '' }, { profile: 7 }, {}])(
    '%j is no profile',
    async (body) => {
      const { status, body: refusal } = await ask('POST', '/api/cli/start', body);
      expect([status, refusal.success]).toEqual([400, false]);
    },
  );

  test('an unknown profile is refused with those that there are, for stopping too', async () => {
    const { status, body } = await ask('POST', '/api/cli/stop', { profile: 'nothing' });
    expect([status, body.code]).toEqual([400, 'UNKNOWN_PROFILE']);
    expect(body.error).toContain('core, full, mesh, auth');
  });

  test('stop ends all but auth and chat, start brings the core and then the rest', async () => {
    const stopped = await ask('POST', '/api/cli/stop');
    expect(stopped.body).toEqual({
      success: true,
      message: 'stopped mesh, gateway, registry, models, studio',
    });
    const core = await ask('POST', '/api/cli/start', { profile: 'core' });
    expect(core.body).toEqual({
      success: true,
      message: 'started gateway, models',
      services: ['auth', 'gateway', 'chat', 'models'],
    });
    const again = await ask('POST', '/api/cli/start', { profile: 'core' });
    expect(again.body).toMatchObject({ success: true, message: 'nothing had to be started' });
    const mesh = await ask('POST', '/api/cli/start', { profile: 'mesh' });
    expect(mesh.body.services).toEqual(['mesh', 'auth', 'gateway', 'chat', 'models']);
    const full = await ask('POST', '/api/cli/start', { profile: 'full' });
    expect(full.body).toEqual({
      success: false,
      message: 'started studio; registry was not started: the port is taken',
      services: ['mesh', 'auth', 'gateway', 'chat', 'models', 'studio'],
    });
  });

  test('auth and chat do not stop, not even by name', async () => {
    const { body } = await ask('POST', '/api/cli/stop', { profile: 'auth' });
    expect(body).toMatchObject({ success: false, message: expect.stringContaining('never stops') });
    await ask('POST', '/api/cli/stop', { profile: 'core' });
    expect(members.filter(({ status }) => status === 'stopped').map(({ name }) => name)).toEqual([
      'gateway',
      'models',
    ]);
  });

  test('what another process hosts is left to it, and counted among those that run if it answers', async () => {
    setStatus('mesh', 'elsewhere');
    setStatus('registry', 'elsewhere');
    answers.delete('registry');
    const { body } = await ask('POST', '/api/cli/start', { profile: 'mesh' });
    expect(body).toEqual({
      success: false,
      message: 'nothing had to be started; mesh was not started: it is not hosted by this process',
      services: ['mesh', 'auth', 'gateway', 'chat', 'models', 'studio'],
    });
  });
});

test('the status measures each service and words it as container tools do', async () => {
  setStatus('mesh', 'elsewhere');
  setStatus('registry', 'elsewhere');
  answers.delete('registry');
  answers.set('gateway', { status: 'degraded', version: '1.0.0', uptime: 1 });
  answers.set('studio', 'hang');
  change(['models'], 'stopped');
  const startedAt = performance.now();
  const { status, body } = await ask('GET', '/api/cli/status');
  expect(performance.now() - startedAt).toBeLessThan(2_000);
  expect(status).toBe(200);
  const { port } = neighbour.address() as AddressInfo;
  const found = Object.fromEntries(
    body.containers.map(({ name, ...rest }: { name: string }) => [name, rest]),
  );
  expect(Object.keys(found)).toEqual(names);
  expect(found).toMatchObject({
    mesh: { status: 'Up 2 minutes (healthy), elsewhere', image: 'ennead/mesh:2.0.0' },
    registry: { status: 'Unreachable, elsewhere', ports: '' },
    gateway: {
      status: 'Up 3 hours (degraded)',
      ports: `127.0.0.1:${port}->${port}/tcp`,
      image: 'ennead/gateway:1.0.0',
    },
    studio: { status: 'Up 3 hours (unhealthy)' },
    models: { status: expect.stringMatching(/^Exited \(0\) \d seconds? ago$/), ports: '' },
    chat: { status: 'Up 3 hours (healthy)', image: 'ennead/chat:1.0.0' },
  });
});

describe('health', () => {
  const health = async () => parse((await server.http.app.inject('/health')).body);

  test('says what works and where it is', async () => {
    answers.delete('studio');
    openParts();
    await expect.poll(health).toMatchObject({ librechat: { enhanced: true, kagent: true } });
    expect(await health()).toEqual({
      status: 'healthy',
      version: '0.1.0',
      uptime: 5,
      service: 'chat',
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
      ecosystem: Object.fromEntries(
        peers.flatMap(({ name, url }) => (name === 'studio' ? [] : [[name, url]])),
      ),
      voice: { enabled: true, status: 'text-commands' },
      librechat: { enhanced: true, kagent: true, ossa: true, agentStudio: false },
      consumers: { workflow: false, mesh: true, studio: false },
      rocketship: { enabled: true, features: 1, statusEndpoint: '/api/cli/status' },
    });
  });

  test('is degraded without a gateway, and without its database', async () => {
    answers.delete('gateway');
    openParts();
    const alone = await health();
    expect(alone).toMatchObject({ status: 'degraded', voice: { status: 'degraded' } });
    expect(alone.librechat.enhanced).toBe(false);
    answers.set('gateway', { status: 'healthy', version: '1.0.0', uptime: 1 });
    isDatabaseUp = false;
    openParts();
    await expect.poll(health).toMatchObject({ librechat: { enhanced: true } });
    expect(await health()).toMatchObject({
      status: 'degraded',
      rocketship: { enabled: false, features: 0 },
    });
    expect((await ask('GET', '/api/info')).body.features).toEqual([]);
  });

  test('answers at once while the others hang, with what is known of those that do not', async () => {
    for (const name of ['mesh', 'registry', 'studio']) answers.set(name, 'hang');
    openParts();
    await expect.poll(health).toMatchObject({ librechat: { enhanced: true } });
    const startedAt = performance.now();
    const answer = await health();
    // The measure is 50 ms on an idle machine; a test machine has other work.
    expect(performance.now() - startedAt).toBeLessThan(500);
    expect(answer.librechat).toEqual({
      enhanced: true,
      kagent: false,
      ossa: false,
      agentStudio: false,
    });
  });

  test('takes no other server for a service of the suite', async () => {
    answers.set('mesh', { hello: 'world' });
    openParts();
    await expect.poll(health).toMatchObject({ librechat: { ossa: true } });
    expect((await health()).librechat.kagent).toBe(false);
  });
});

test('the info names endpoints that answer and no others', async () => {
  const { body } = await ask('GET', '/api/info');
  expect(body).toEqual({
    name: 'chat',
    version: '0.1.0',
    description: 'Conversations.',
    features: ['suite-control'],
    endpoints: { health: '/health', suite: '/api/cli/status', metrics: '/metrics' },
  });
});

test('the metrics are read in the text format of Prometheus', async () => {
  const { status, text } = await ask('GET', '/metrics');
  expect(status).toBe(200);
  expect(text).toContain('# TYPE chat_first_token_seconds histogram');
});
