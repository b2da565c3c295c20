import { afterAll, beforeAll, expect, test } from 'vitest';
import { openGround, startAgents, type Ground } from './testing.ts';

let ground: Ground;
let mesh: Awaited<ReturnType<typeof startAgents>>;
let other: Awaited<ReturnType<typeof startAgents>>;
let nowMs = Date.now();
const now = () => nowMs;

beforeAll(async () => {
  ground = await openGround();
  const isAttested = (agentId: string, capability: string) =>
    agentId === 'att-1' && capability === 'att';
  mesh = await startAgents(ground, { now, isAttested });
  other = await startAgents(ground, { now, isAttested });
});

afterAll(async () => {
  await other[Symbol.asyncDispose]();
  await mesh[Symbol.asyncDispose]();
  await ground[Symbol.asyncDispose]();
});

const register = (body: object) => mesh.call('POST', '/api/v1/agents/register', body);
const discover = (body: object, query = '') =>
  mesh.call('POST', `/api/v1/agents/discover${query}`, body);
const idsOf = (found: { readonly agents: readonly { readonly agentId: string }[] }) =>
  found.agents.map(({ agentId }) => agentId);

test('what no registration can be is refused before anything is stored', async () => {
  const agent = { agentId: 'bad', capabilities: ['a'] };
  const refused: [object, string][] = [
    [{ capabilities: ['a'] }, 'VALIDATION_ERROR'],
    [{ ...agent, agentId: 'a b' }, 'VALIDATION_ERROR'],
    [{ ...agent, agentId: 'a'.repeat(129) }, 'VALIDATION_ERROR'],
    [{ ...agent, capabilities: [''] }, 'VALIDATION_ERROR'],
    [{ ...agent, capabilities: ['a'.repeat(129)] }, 'VALIDATION_ERROR'],
    [
      { ...agent, capabilities: Array.from({ length: 101 }, (_, i) => `c${i}`) },
      'VALIDATION_ERROR',
    ],
    [{ ...agent, metadata: { text: 'é'.repeat(8_192) } }, 'VALIDATION_ERROR'],
    [{ ...agent, metadata: { text: '\ud800' } }, 'INVALID'],
    [{ ...agent, endpoints: { grpc: 'no-port' } }, 'VALIDATION_ERROR'],
    [{ ...agent, endpoints: { grpc: 'host:99999' } }, 'VALIDATION_ERROR'],
    [{ ...agent, endpoints: { rest: 'ftp://host' } }, 'VALIDATION_ERROR'],
    [{ ...agent, endpoints: { rest: 'http://localhost/ok?x=1' } }, 'VALIDATION_ERROR'],
    [{ ...agent, endpoints: { rest: 'http://localhost/ok#y' } }, 'VALIDATION_ERROR'],
    [{ ...agent, publicKey: `0x${'a'.repeat(64)}` }, 'KEY_PROOF_INVALID'],
    [{ ...agent, cardKeys: [{ kty: 'oct', k: 'c2VjcmV0' }] }, 'INVALID'],
  ];
  for (const [body, code] of refused) {
    const { status, body: answer } = await register(body);
    expect([status, answer.error?.code, body]).toEqual([400, code, body]);
  }
  expect((await mesh.call('GET', '/api/v1/agents/bad')).status).toBe(404);
});

test('the refusal of an endpoint names its field', async () => {
  const refused = [
    [{ endpoints: { rest: 'nonsense' } }, 'endpoints.rest'],
    [{ endpoints: { rest: 'http://a:b@localhost/' } }, 'endpoints.rest'],
    [{ endpoints: { a2a: 'ws://localhost' } }, 'endpoints.a2a'],
    [{ endpoints: { grpc: 'no-port' } }, 'endpoints.grpc'],
    [{ endpoints: { grpc: '169.254.169.254:80' } }, 'endpoints.grpc'],
    [{ agentCardUrl: 'nonsense' }, 'agentCardUrl'],
  ] as const;
  for (const [given, param] of refused) {
    const { body } = await register({ agentId: 'bad', capabilities: [], ...given });
    expect(body.error.details).toMatchObject({ param });
  }
});

test('endpoints that must not be called are refused with 403', async () => {
  for (const endpoints of [
    { rest: 'http://169.254.169.254/latest' },
    { grpc: '169.254.169.254:80' },
    { a2a: 'http://[fd00:ec2::254]/' },
  ]) {
    const { status, body } = await register({ agentId: 'spy', capabilities: [], endpoints });
    expect([status, body.error.code]).toEqual([403, 'EGRESS_BLOCKED']);
  }
});

test('an unknown agent is AGENT_NOT_FOUND with its id in the details', async () => {
  for (const [method, path, body] of [
    ['GET', '/api/v1/agents/nobody', undefined],
    ['DELETE', '/api/v1/agents/nobody', undefined],
    ['POST', '/api/v1/agents/nobody/heartbeat', {}],
  ] as const) {
    const answer = await mesh.call(method, path, body);
    expect(answer.status).toBe(404);
    expect(answer.body.error).toMatchObject({
      code: 'AGENT_NOT_FOUND',
      details: { agentId: 'nobody', timestamp: expect.any(String) },
      requestId: expect.any(String),
    });
  }
});

test('a registration answers as the interface shows and is read on every replica', async () => {
  const { status, body } = await register({
    agentId: 'first',
    capabilities: ['read', 'write', 'read'],
    metadata: { version: '1.0.0', region: 'eu' },
    endpoints: { grpc: 'localhost:50051', rest: 'http://localhost:8080', unknown: 'x' },
  });
  expect(status).toBe(201);
  expect(body).toMatchObject({
    registrationId: expect.stringMatching(/^reg_/),
    agentId: 'first',
    status: 'active',
    heartbeatInterval: 30,
    epoch: 1,
  });
  const seen = await other.call('GET', '/api/v1/agents/first');
  expect(seen.body).toMatchObject({
    ownerId: 'usr_owner',
    capabilities: ['read', 'write'],
    metadata: { version: '1.0.0', region: 'eu' },
    endpoints: { grpc: 'localhost:50051', rest: 'http://localhost:8080' },
    load: 0,
  });
  expect(seen.body.endpoints).not.toHaveProperty('unknown');
  const found = await discover({ capabilities: ['read'], filters: { region: 'eu' } });
  expect(found.body).toEqual({
    agents: [
      {
        agentId: 'first',
        capabilities: ['read', 'write'],
        endpoints: { grpc: 'localhost:50051', rest: 'http://localhost:8080' },
        load: 0,
        status: 'active',
        region: 'eu',
      },
    ],
    totalFound: 1,
  });
});

test('an id is its owner’s: others get 409 and 403, the owner replaces and removes', async () => {
  const stranger = mesh.callAs('usr_stranger');
  await register({ agentId: 'mine', capabilities: ['own'], voteKey: 'A'.repeat(43) });
  const taken = await stranger('POST', '/api/v1/agents/register', {
    agentId: 'mine',
    capabilities: ['stolen'],
  });
  expect([taken.status, taken.body.error.code]).toEqual([409, 'AGENT_ID_TAKEN']);
  for (const [method, path, body] of [
    ['POST', '/api/v1/agents/mine/heartbeat', { load: 1 }],
    ['DELETE', '/api/v1/agents/mine', undefined],
    ['PUT', '/api/v1/agents/mine/key', keyBody],
  ] as const) {
    const answer = await stranger(method, path, body);
    expect([method, answer.status, answer.body.error.code]).toEqual([
      method,
      403,
      'NOT_AGENT_OWNER',
    ]);
  }
  const again = await register({ agentId: 'mine', capabilities: ['new'] });
  expect([again.status, again.body.epoch]).toEqual([201, 2]);
  const seen = (await other.call('GET', '/api/v1/agents/mine')).body;
  expect(seen).toMatchObject({ capabilities: ['new'], voteKey: 'A'.repeat(43) });
  expect((await discover({ capabilities: ['own'] })).body.totalFound).toBe(0);
  expect((await mesh.call('DELETE', '/api/v1/agents/mine')).body).toEqual({
    agentId: 'mine',
    deregistered: true,
  });
  expect((await other.call('GET', '/api/v1/agents/mine')).status).toBe(404);
  const free = await stranger('POST', '/api/v1/agents/register', {
    agentId: 'mine',
    capabilities: [],
  });
  expect(free.status).toBe(201);
});

test('of two owners that register an id at the same moment one gets it', async () => {
  const stranger = other.callAs('usr_stranger');
  const body = { agentId: 'raced', capabilities: [] };
  const answers = await Promise.all([
    register(body),
    stranger('POST', '/api/v1/agents/register', body),
    register(body),
    stranger('POST', '/api/v1/agents/register', body),
  ]);
  const statuses = answers.map(({ status }) => status).toSorted((one, two) => one - two);
  expect(statuses).toEqual([201, 201, 409, 409]);
});

test('of registrations of one id at the same moment only the last is current', async () => {
  const bodies = Array.from({ length: 6 }, (_, n) => ({
    agentId: 'many',
    capabilities: [`c${n}`],
  }));
  const made = await Promise.all(
    bodies.map(async (body) => (await mesh.call('POST', '/api/v1/agents/register', body)).body),
  );
  const epochs = made.map(({ epoch }) => epoch);
  expect(epochs.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6]);
  expect(new Set(made.map(({ registrationId }) => registrationId)).size).toBe(6);
  const stored = (await mesh.call('GET', '/api/v1/agents/many')).body;
  expect(stored.capabilities).toEqual([`c${epochs.indexOf(6)}`]);
  for (const epoch of epochs) {
    const { status } = await mesh.call('POST', '/api/v1/agents/many/heartbeat', { epoch });
    expect([epoch, status]).toEqual([epoch, epoch === 6 ? 200 : 409]);
  }
});

test('registering needs mesh:communicate, finding only a token', async () => {
  const reader = mesh.callAs('usr_reader', []);
  const refused = await reader('POST', '/api/v1/agents/register', {
    agentId: 'r',
    capabilities: [],
  });
  expect(refused.status).toBe(403);
  expect((await reader('POST', '/api/v1/agents/discover', {})).status).toBe(200);
  expect((await fetch(`${mesh.url}/api/v1/agents`)).status).toBe(401);
});

const keyBody = {
  publicKey: `0x${'b'.repeat(64)}`,
  keyProof: { commitment: '0x01', challenge: '0x01', response: '0x01' },
};

test('a key is taken with a proof that holds, at registration and later', async () => {
  await register({ agentId: 'keyed', capabilities: [], ...keyBody });
  expect((await mesh.call('GET', '/api/v1/agents/keyed')).body.publicKey).toBe(keyBody.publicKey);
  const publicKey = `0x${'c'.repeat(64)}`;
  const wrong = { publicKey, keyProof: { ...keyBody.keyProof, response: '0x02' } };
  const refused = await mesh.call('PUT', '/api/v1/agents/keyed/key', wrong);
  expect([refused.status, refused.body.error.code]).toEqual([400, 'KEY_PROOF_INVALID']);
  const taken = await mesh.call('PUT', '/api/v1/agents/keyed/key', { ...keyBody, publicKey });
  expect(taken.body).toEqual({ agentId: 'keyed', publicKey });
  const revoked = () => mesh.revoked.filter(([agentId]) => agentId === 'keyed');
  expect(revoked()).toEqual([['keyed', 'the key was changed']]);
  await mesh.call('PUT', '/api/v1/agents/keyed/key', { ...keyBody, publicKey });
  expect(revoked()).toHaveLength(1);
  expect((await other.call('GET', '/api/v1/agents/keyed')).body.publicKey).toBe(publicKey);
});

test('a heartbeat leaves no trace: agents send one every few seconds', async () => {
  await register({ agentId: 'steady', capabilities: ['echo'] });
  mesh.spans.length = 0;
  expect((await mesh.call('POST', '/api/v1/agents/steady/heartbeat', {})).status).toBe(200);
  expect(mesh.spans).toEqual([]);
});

test('a heartbeat reports load and status to every replica, and an old epoch is refused', async () => {
  await register({ agentId: 'beating', capabilities: ['beat'] });
  const beat = await mesh.call('POST', '/api/v1/agents/beating/heartbeat', {
    load: 0.45,
    status: 'busy',
  });
  expect(beat.body).toEqual({ agentId: 'beating', status: 'busy', epoch: 1, next: 30 });
  expect((await other.call('GET', '/api/v1/agents/beating')).body).toMatchObject({
    load: 0.45,
    status: 'busy',
  });
  await register({ agentId: 'beating', capabilities: ['beat'] });
  const old = await mesh.call('POST', '/api/v1/agents/beating/heartbeat', { epoch: 1 });
  expect([old.status, old.body.error.code]).toEqual([409, 'AGENT_REPLACED']);
  for (const body of [{ load: 1.1 }, { load: -1 }, { status: 'offline' }, { status: 'suspect' }]) {
    expect((await mesh.call('POST', '/api/v1/agents/beating/heartbeat', body)).status).toBe(400);
  }
});

test('epochs go on after a deregistration, so that an earlier holder of the id is known as such', async () => {
  const path = '/api/v1/agents/again';
  const epochOf = async () =>
    (await register({ agentId: 'again', capabilities: [] })).body.epoch as number;
  expect([await epochOf(), await epochOf()]).toEqual([1, 2]);
  const early = await mesh.call('DELETE', `${path}?epoch=1`);
  expect([early.status, early.body.error.code]).toEqual([409, 'AGENT_REPLACED']);
  for (const next of [3, 4]) {
    expect((await mesh.call('DELETE', `${path}?epoch=${next - 1}`)).status).toBe(200);
    expect(await epochOf()).toBe(next);
  }
  const late = await mesh.call('POST', `${path}/heartbeat`, { epoch: 2 });
  expect([late.status, late.body.error.code]).toEqual([409, 'AGENT_REPLACED']);
});

test('three missed beats make suspect, six offline; a beat heals only the first', async () => {
  await register({ agentId: 'silent', capabilities: ['hush'], heartbeatInterval: 10 });
  nowMs += 29_999;
  await mesh.registry.checkSilence();
  expect(mesh.registry.directory.find('silent')?.status).toBe('active');
  nowMs += 1;
  await Promise.all([mesh.registry.checkSilence(), other.registry.checkSilence()]);
  expect(other.registry.directory.find('silent')?.status).toBe('suspect');
  const healed = await other.call('POST', '/api/v1/agents/silent/heartbeat', {});
  expect(healed.body.status).toBe('active');
  expect(mesh.registry.directory.find('silent')?.status).toBe('active');
  nowMs += 60_000;
  await Promise.all([mesh.registry.checkSilence(), other.registry.checkSilence()]);
  expect((await discover({ capabilities: ['hush'] })).body.totalFound).toBe(0);
  const offline = await discover({ capabilities: ['hush'], filters: { status: 'offline' } });
  expect(idsOf(offline.body)).toEqual(['silent']);
  const late = await mesh.call('POST', '/api/v1/agents/silent/heartbeat', {});
  expect([late.status, late.body.error.code]).toEqual([409, 'AGENT_OFFLINE']);
  expect((await register({ agentId: 'silent', capabilities: ['hush'] })).status).toBe(201);
  expect((await discover({ capabilities: ['hush'] })).body.totalFound).toBe(1);
});

test('an agent that flaps is trusted again only after as many beats as it fell silent', async () => {
  await register({ agentId: 'flapping', capabilities: [], heartbeatInterval: 1 });
  const beat = async () =>
    (await mesh.call('POST', '/api/v1/agents/flapping/heartbeat', {})).body.status;
  const fallSilent = async () => {
    nowMs += 3_000;
    await mesh.registry.checkSilence();
  };
  for (let round = 0; round < 2; round += 1) {
    await fallSilent();
    expect(await beat()).toBe('active');
  }
  await fallSilent();
  expect([await beat(), await beat(), await beat()]).toEqual(['suspect', 'suspect', 'active']);
  await fallSilent();
  expect([await beat(), await beat(), await beat(), await beat()]).toEqual([
    'suspect',
    'suspect',
    'suspect',
    'active',
  ]);
});

test('discovery wants all capabilities, and attestations where it is told to', async () => {
  await register({ agentId: 'att-1', capabilities: ['att', 'more'] });
  await register({ agentId: 'att-2', capabilities: ['att'] });
  const both = await discover({ capabilities: ['att', 'more'] });
  expect(idsOf(both.body)).toEqual(['att-1']);
  const all = await discover({ capabilities: ['att'], limit: 1 });
  expect([all.body.agents.length, all.body.totalFound]).toEqual([1, 2]);
  const attested = await discover({ capabilities: ['att'], filters: { attested: true } });
  expect(idsOf(attested.body)).toEqual(['att-1']);
  expect((await discover({ capabilities: ['att', 'nothing'] })).body).toEqual({
    agents: [],
    totalFound: 0,
  });
});

test('a query behind an index waits for a change of its own capabilities only', async () => {
  await register({ agentId: 'wait-1', capabilities: ['waited'] });
  const first = await discover({ capabilities: ['waited'] });
  const index = first.headers.get('x-mesh-index');
  const waiting = discover({ capabilities: ['waited'] }, `?index=${index}&wait=30`);
  let isAnswered = false;
  void waiting.then(() => (isAnswered = true));
  await register({ agentId: 'elsewhere', capabilities: ['unwaited'] });
  await mesh.call('POST', '/api/v1/agents/wait-1/heartbeat', { load: 0.9 });
  expect(isAnswered).toBe(false);
  await other.call('POST', '/api/v1/agents/register', {
    agentId: 'wait-2',
    capabilities: ['waited'],
  });
  const answer = await waiting;
  expect(answer.body.totalFound).toBe(2);
  expect(Number(answer.headers.get('x-mesh-index'))).toBeGreaterThan(Number(index));
  const known = answer.headers.get('x-mesh-index');
  const timedOut = await discover({ capabilities: ['waited'], index: Number(known), wait: 0 });
  expect(timedOut.headers.get('x-mesh-index')).toBe(known);
});

test('a query for what nobody can do yet waits until somebody can', async () => {
  const first = await discover({ capabilities: ['unheard-of'] });
  const index = first.headers.get('x-mesh-index');
  expect(Number(index)).toBeGreaterThan(0);
  const waiting = discover({ capabilities: ['unheard-of'] }, `?index=${index}&wait=30`);
  await register({ agentId: 'pioneer', capabilities: ['unheard-of'] });
  expect((await waiting).body.totalFound).toBe(1);
});

test('the listing pages by id and filters', async () => {
  for (const name of ['p3', 'p1', 'p2']) {
    await register({ agentId: name, capabilities: ['paged'] });
  }
  const path = '/api/v1/agents?capability=paged';
  const page = await mesh.call('GET', `${path}&limit=2&offset=1`);
  expect(idsOf(page.body)).toEqual(['p2', 'p3']);
  expect(page.body).toMatchObject({ total: 3, limit: 2, offset: 1 });
  expect((await mesh.call('GET', `${path}&status=busy`)).body.total).toBe(0);
});

test('a replica that starts later has the same agents', async () => {
  const late = await startAgents(ground, { now });
  const before = mesh.registry.directory.sorted().map((agent) => agent.current());
  expect(late.registry.directory.sorted().map((agent) => agent.current())).toEqual(before);
  expect(other.registry.directory.sorted().map((agent) => agent.current())).toEqual(before);
  await late[Symbol.asyncDispose]();
});

test('ten thousand registrations at once are all stored, found and known elsewhere', async () => {
  const before = mesh.registry.directory.size;
  const count = 10_000;
  const rows = await Promise.all(
    Array.from({ length: count }, (_, at) =>
      mesh.registry.register('usr_fleet', {
        agentId: `fleet-${at}`,
        capabilities: ['fleet', `of-${at % 100}`],
      }),
    ),
  );
  expect(new Set(rows.map(({ registrationId }) => registrationId)).size).toBe(count);
  const [stored] = await ground.database.query<{ count: number }>(
    "select count(*) as count from mesh.agents where owner_id = 'usr_fleet'",
  );
  expect(stored?.count).toBe(count);
  expect(other.registry.directory.size).toBe(before + count);
  const found = await discover({ capabilities: ['fleet', 'of-7'], limit: 10 });
  expect([found.body.agents.length, found.body.totalFound]).toEqual([10, 100]);
});

test('a capability in any script is found and told as it is', async () => {
  const agent = {
    agentId: 'any-script',
    capabilities: ['größe', '尺寸 😀'],
    metadata: { region: 'Zürich' },
  };
  expect((await register(agent)).status).toBe(201);
  const { body } = await discover({ capabilities: ['尺寸 😀'], filters: { region: 'Zürich' } });
  const { agentId, capabilities } = agent;
  expect(body.agents).toMatchObject([{ agentId, capabilities, region: 'Zürich' }]);
});
