import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Contract } from '../../kit/contract.ts';
import { plainEnvelope } from '../../kit/envelope.ts';
import type { Service } from '../../kit/service.ts';
import { startService } from '../../kit/testing.ts';
import { swarmRoutes } from '../schemas/swarms.ts';
import { openSwarmDatabase, SwarmGround } from '../swarms/testing.ts';
import { swarmHandlers } from './swarms.ts';

const contract = {
  name: 'mesh',
  title: 'Mesh',
  version: '1.0.0',
  description: 'Swarms alone.',
  error: plainEnvelope.schema,
  routes: swarmRoutes,
} as const satisfies Contract;

let ground: SwarmGround;
let running: Awaited<ReturnType<typeof open>>;

async function open() {
  const database = await openSwarmDatabase();
  const service = {
    contract,
    envelope: plainEnvelope,
    rate: { perMinute: 60_000, burst: 60_000 },
    settings: {},
    grants: [],
    load: async () => ({
      start: async (host) => {
        const swarms = ground.open(host.database);
        host.http.serve(contract, swarmHandlers({ swarms }));
        return swarms;
      },
    }),
  } satisfies Service<typeof contract>;
  const started = await startService(service, { database });
  return { ...started, database };
}

beforeAll(async () => {
  ground = new SwarmGround();
  running = await open();
});

beforeEach(async () => {
  await running.database.query('truncate mesh.swarms cascade');
  for (const agentId of ['a1', 'a2', 'a3', 'a4']) {
    ground.directory.add(agentId, { ownerId: 'usr_test' });
  }
});

afterAll(async () => {
  await running[Symbol.asyncDispose]();
  await running.database[Symbol.asyncDispose]();
});

interface Caller {
  readonly sub?: string;
  readonly permissions?: readonly string[];
}

async function call(method: 'GET' | 'POST', path: string, body?: object, caller: Caller = {}) {
  const claims = { permissions: ['mesh:communicate'], ...caller };
  const token = await running.issuer.sign(claims);
  const response = await running.app.inject({
    method,
    url: `/api/v1/swarms${path}`,
    headers: { authorization: `Bearer ${token}` },
    ...(body ? { payload: body } : {}),
  });
  return { status: response.statusCode, body: response.json() };
}

const swarmBody = {
  name: 'release',
  agents: ['a1', 'a2', 'a3', 'a4'],
  consensus: { type: 'byzantine-fault-tolerant', threshold: 3, timeout: 60_000 },
  task: { type: 'deploy', input: { build: 7 } },
};

async function create(over: object = {}): Promise<string> {
  const { status, body } = await call('POST', '', { ...swarmBody, ...over });
  expect(status).toBe(201);
  return body.swarmId;
}

test('a swarm is created active, votes, and shows its decision', async () => {
  const { status, body } = await call('POST', '', swarmBody);
  expect(status).toBe(201);
  expect(body).toMatchObject({
    swarmId: expect.stringMatching(/^swm_/),
    status: 'active',
    agents: swarmBody.agents,
    createdAt: expect.stringMatching(/Z$/),
    consensusReached: false,
    faultTolerance: { byzantine: 1, quorum: 3 },
  });
  const { swarmId } = body;
  for (const [at, agentId] of ['a1', 'a2', 'a3'].entries()) {
    const vote = { agentId, vote: 'approve', confidence: 0.95 };
    const receipt = await call('POST', `/${swarmId}/votes`, vote);
    expect(receipt.status).toBe(200);
    expect(receipt.body).toMatchObject({ accepted: true, consensusReached: at === 2 });
  }
  const read = await call('GET', `/${swarmId}/status`);
  expect(read.body).toMatchObject({
    swarmId,
    status: 'consensus-reached',
    finalDecision: 'approve',
    consensusAt: expect.stringMatching(/Z$/),
    confidence: 0.95,
    certified: false,
    consensus: swarmBody.consensus,
  });
  expect(read.body.agentVotes[0]).toEqual({
    agentId: 'a1',
    vote: 'approve',
    confidence: 0.95,
    timestamp: expect.stringMatching(/Z$/),
  });
  const late = await call('POST', `/${swarmId}/votes`, { agentId: 'a4', vote: 'reject' });
  expect([late.status, late.body.error.code]).toEqual([409, 'SWARM_ENDED']);
});

test('refusals name what they are about', async () => {
  const swarmId = await create();
  const vote = { agentId: 'a1', vote: 'approve' };
  expect((await call('POST', `/${swarmId}/votes`, vote)).status).toBe(200);
  const cases = [
    [409, 'VOTE_CONFLICT', await call('POST', `/${swarmId}/votes`, { ...vote, vote: 'reject' })],
    [403, 'NOT_AGENT_OWNER', await call('POST', `/${swarmId}/votes`, vote, { sub: 'usr_b' })],
    [403, 'NOT_A_MEMBER', await call('POST', `/${swarmId}/votes`, { ...vote, agentId: 'a9' })],
    [403, 'NOT_SWARM_OWNER', await call('POST', `/${swarmId}/cancel`, undefined, { sub: 'usr_b' })],
    [403, 'INSUFFICIENT_PERMISSIONS', await call('POST', '', swarmBody, { permissions: [] })],
    [404, 'SWARM_NOT_FOUND', await call('GET', '/swm_none/status')],
    [404, 'SWARM_NOT_FOUND', await call('POST', '/swm_none/votes', vote)],
    [404, 'AGENT_NOT_FOUND', await call('POST', '', { ...swarmBody, agents: ['a9', 'a1', 'a2'] })],
  ] as const;
  for (const [status, code, answer] of cases) {
    expect([answer.status, answer.body.error.code]).toEqual([status, code]);
  }
  expect(cases[7][2].body.error.details.agentId).toBe('a9');
  expect(cases[0][2].body.error.details).toMatchObject({ first: 'approve', second: 'reject' });
});

test.each([
  ['a threshold above its members', { consensus: { threshold: 5 } }],
  ['a threshold of none', { consensus: { threshold: 0 } }],
  ['no time', { consensus: { timeout: 0 } }],
  ['an unknown kind of consensus', { consensus: { type: 'dictatorship' } }],
  ['no members', { agents: [] }],
  ['a member twice', { agents: ['a1', 'a1'] }],
  ['no name', { name: ' ' }],
  ['no task', { task: undefined }],
  ['an input that is no object', { task: { type: 't', input: 'x' } }],
])('a swarm with %s is refused', async (_what, over) => {
  expect((await call('POST', '', { ...swarmBody, ...over })).status).toBe(400);
});

test.each([
  ['an unknown value', { vote: 'maybe' }],
  ['too much confidence', { confidence: 1.1 }],
  ['a signature of another length', { signature: 'AAAA' }],
  ['a signature that is of nothing', { signature: 'A'.repeat(86) }],
])('a vote with %s is refused', async (_what, over) => {
  const swarmId = await create();
  const vote = { agentId: 'a1', vote: 'approve', ...over };
  expect((await call('POST', `/${swarmId}/votes`, vote)).status).toBe(400);
  expect((await call('GET', `/${swarmId}/status`)).body.agentVotes).toEqual([]);
});

test('a small swarm says what it tolerates', async () => {
  const { body } = await call('POST', '', { ...swarmBody, agents: ['a1', 'a2'], consensus: {} });
  expect(body).toMatchObject({ faultTolerance: { byzantine: 0, quorum: 2 }, livenessFaults: 0 });
});

test('swarms are listed the newest first, joined and cancelled', async () => {
  const first = await create();
  const second = await create({ agents: ['a1', 'a2', 'a3'] });
  expect((await call('POST', `/${second}/join`, { agentId: 'a4' })).body.agents).toHaveLength(4);
  const cancelled = await call('POST', `/${first}/cancel`, undefined, {
    sub: 'usr_admin',
    permissions: ['mesh:communicate', 'mesh:admin'],
  });
  expect(cancelled.body.status).toBe('cancelled');
  const page = await call('GET', '?limit=1', undefined, { permissions: [] });
  expect(page.body).toMatchObject({ total: 2, limit: 1, offset: 0, swarms: [{ swarmId: second }] });
  const active = await call('GET', '?status=active');
  expect(active.body).toMatchObject({ total: 1, swarms: [{ swarmId: second, status: 'active' }] });
});
