import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ReadJson } from '../../kit/http/testing.ts';
import type { Contract } from '../../kit/contract.ts';
import type { Database } from '../../kit/database/database.ts';
import { plainEnvelope } from '../../kit/envelope.ts';
import { Fault } from '../../kit/errors.ts';
import { createTestServer, listenAnywhere } from '../../kit/testing.ts';
import { orchestrationHandlers } from '../routes/orchestrations.ts';
import { orchestrationRoutes } from '../schemas/orchestrations.ts';
import type { AgentProgress, OrchestrationRequest } from './orchestration.ts';
import { endless, startScriptedMesh, type ScriptedMesh } from './scripted-mesh-testing.ts';
import {
  callerOf,
  openOrchestrationGround,
  openOrchestrations,
  untilEnded,
  type OrchestrationGround,
  type OrchestrationReplica,
} from './testing.ts';

const contract = {
  name: 'chat',
  title: 'Orchestrations',
  version: '0.1.0',
  description: 'Their edge alone.',
  error: plainEnvelope.schema,
  routes: orchestrationRoutes,
} as const satisfies Contract;

let ground: OrchestrationGround;
let mesh: ScriptedMesh;
let here: OrchestrationReplica;
let there: OrchestrationReplica;
let server: Awaited<ReturnType<typeof createTestServer>>;
let url = '';
let openGate = () => {};
let atOnce = 0;
let mostAtOnce = 0;

beforeAll(async () => {
  ground = await openOrchestrationGround();
  mesh = await startScriptedMesh([
    { agentId: 'adder', capabilities: ['sums'], work: ({ input }) => ({ got: input.prompt }) },
    { agentId: 'other-adder', capabilities: ['sums', 'x'], work: () => 'other' },
    { agentId: 'named', metadata: { name: 'The Writer' }, work: ({ input }) => input.context },
    { agentId: 'broken', work: () => Promise.reject(new Error('out of ink')) },
    { agentId: 'endless', work: endless },
    { agentId: 'gated', work: () => new Promise((resolve) => (openGate = () => resolve('late'))) },
    ...Array.from({ length: 40 }, (_, index) => ({ agentId: `crowd-${index}`, work: crowded })),
  ]);
  here = await openOrchestrations(ground, mesh.url);
  there = await openOrchestrations(ground, mesh.url);
  server = await createTestServer(contract);
  server.http.serve(contract, orchestrationHandlers(here));
  url = await listenAnywhere(server.http);
});

afterAll(async () => {
  await server?.http.close(0);
  await here?.[Symbol.asyncDispose]();
  await there?.[Symbol.asyncDispose]();
  await mesh?.[Symbol.asyncDispose]();
  await ground?.[Symbol.asyncDispose]();
});

async function crowded(): Promise<number> {
  atOnce += 1;
  mostAtOnce = Math.max(mostAtOnce, atOnce);
  await new Promise((resolve) => setTimeout(resolve, 5));
  return (atOnce -= 1);
}

const ada = callerOf('ada');

function start(agents: readonly string[], over: Partial<OrchestrationRequest> = {}) {
  const request = { task: 'count', agents, isParallel: true, timeoutMs: 20_000, ...over };
  return here.orchestrations.start(ada, request);
}

async function outcome(agents: readonly string[], over: Partial<OrchestrationRequest> = {}) {
  return untilEnded(here.orchestrations, await start(agents, over));
}

test('who may neither execute agents nor speak on the mesh is refused', async () => {
  const poor = callerOf('poor', { permissions: ['workflow:execute'] });
  const request = { task: 'x', agents: ['adder'], isParallel: true, timeoutMs: 1_000 };
  const refused = here.orchestrations.start(poor, request);
  await expect(refused).rejects.toMatchObject({ code: 'forbidden' });
});

test.each([
  ['no agents', { agents: [] }],
  ['an empty task', { task: ' ' }],
  ['no time', { timeoutMs: 0 }],
])('%s is refused', async (_, over) => {
  await expect(start(['adder'], over)).rejects.toMatchObject({
    code: 'invalid',
    reason: 'validation_error',
  });
});

test('a name that nobody answers to refuses all, and no agent begins', async () => {
  const before = mesh.tasks.length;
  await expect(start(['adder', 'nobody at all'])).rejects.toMatchObject({
    reason: 'agent_not_found',
    detail: { agent: 'nobody at all' },
  });
  expect(mesh.tasks).toHaveLength(before);
});

test('a mesh that is away refuses new orchestrations', async () => {
  await mesh.fall();
  const refused = start(['adder']);
  await expect(refused).rejects.toMatchObject({ code: 'unavailable', reason: 'mesh_unavailable' });
  await mesh.rise();
});

test('another’s orchestration is none', async () => {
  const { id } = await start(['adder']);
  const refusal = { code: 'not_found', reason: 'orchestration_not_found' };
  await expect(there.orchestrations.find('eve', id)).rejects.toMatchObject(refusal);
  await expect(there.orchestrations.cancel('eve', id)).rejects.toMatchObject(refusal);
  expect((await there.orchestrations.list('eve', { limit: 20, offset: 0 })).total).toBe(0);
});

test('agents are found by id, capability and name, with the caller’s rights', async () => {
  mesh.readers.length = 0;
  const ended = await outcome(['adder', 'sums', 'The Writer', 'adder'], { context: { a: 1 } });
  expect(ended).toMatchObject({ status: 'completed', progress: 1, task: 'count' });
  expect(ended.steps).toMatchObject([
    { agentId: 'adder', status: 'completed', result: { got: 'count' } },
    { agentId: 'other-adder', status: 'completed', result: 'other' },
    { agentId: 'named', name: 'The Writer', status: 'completed', result: { a: 1 } },
    { agentId: 'adder', status: 'completed', result: { got: 'count' } },
  ]);
  expect(new Set(mesh.readers)).toEqual(new Set(['token of ada']));
  const tasks = mesh.tasks.slice(-4);
  expect(tasks.map(({ type }) => type)).toEqual(['sums', 'sums', 'orchestrate', 'sums']);
  expect(new Set(tasks.map(({ credential }) => credential))).toEqual(new Set(['own']));
});

test('each entry is a part of its own, whatever agent it names', async () => {
  const agents = ['adder', 'named', 'adder', 'sums', 'sums'];
  const { status, steps } = await outcome(agents, { isParallel: false });
  expect(status).toBe('completed');
  expect(steps.map(({ agentId }) => agentId)).toEqual([
    'adder',
    'named',
    'adder',
    'other-adder',
    expect.stringMatching(/adder$/),
  ]);
});

test('what some complete is kept when others fail', async () => {
  const ended = await outcome(['adder', 'broken']);
  expect(ended).toMatchObject({
    status: 'partial',
    steps: [{ status: 'completed' }, { status: 'failed', error: { code: 'AGENT_FAILED' } }],
  });
  expect(await outcome(['broken'])).toMatchObject({ status: 'failed', progress: 1 });
});

test('one after the other, each gets the results so far', async () => {
  const ended = await outcome(['adder', 'broken', 'named'], { isParallel: false });
  expect(ended.steps[2]?.result).toEqual({
    results: [
      { agent: 'adder', name: 'adder', status: 'completed', result: { got: 'count' } },
      {
        agent: 'broken',
        name: 'broken',
        status: 'failed',
        error: { code: 'AGENT_FAILED', message: 'out of ink' },
      },
    ],
  });
  const times = ended.steps.map(({ startedAtMs = 0, endedAtMs = 0 }) => [startedAtMs, endedAtMs]);
  expect(times.flat()).toEqual(times.flat().toSorted((one, other) => one - other));
});

test('no more than sixteen parts run at once', async () => {
  const agents = Array.from({ length: 40 }, (_, index) => `crowd-${index}`);
  const started = await start(agents);
  expect(started.steps.filter(({ status }) => status === 'running')).toHaveLength(16);
  expect(await untilEnded(there.orchestrations, started)).toMatchObject({ status: 'completed' });
  expect(mostAtOnce).toBeGreaterThan(1);
  expect(mostAtOnce).toBeLessThanOrEqual(16);
});

test('out of time, what runs is called off and what was completed stays', async () => {
  const ended = await outcome(['adder', 'endless', 'named'], {
    isParallel: false,
    timeoutMs: 1_000,
  });
  expect(ended).toMatchObject({
    status: 'partial',
    progress: 1,
    steps: [
      { status: 'completed', result: { got: 'count' } },
      { status: 'cancelled', error: { code: 'ORCHESTRATION_DEADLINE' } },
      { status: 'cancelled', error: { code: 'ORCHESTRATION_DEADLINE' } },
    ],
  });
  expect(mesh.tasks.at(-1)?.agentId).toBe('endless');
  await expect.poll(() => mesh.tasks.at(-1)?.signal.aborted).toBe(true);
});

test('its owner calls it off from any replica, and what has ended stays', async () => {
  const { id } = await start(['adder', 'endless', 'named'], { isParallel: false });
  const find = () => here.orchestrations.find('ada', id);
  await expect.poll(async () => (await find()).steps[1]?.taskId).toBeDefined();
  const cancelled = await there.orchestrations.cancel('ada', id);
  expect(cancelled).toMatchObject({
    status: 'cancelled',
    steps: [
      { status: 'completed' },
      { status: 'cancelled', error: { code: 'ORCHESTRATION_CANCELLED' } },
      { status: 'cancelled' },
    ],
  });
  await expect.poll(() => mesh.tasks.at(-1)?.signal.aborted).toBe(true);
  expect(await here.orchestrations.cancel('ada', id)).toEqual(cancelled);
  expect(await find()).toEqual(cancelled);
});

test('a part goes on while the mesh is away, and is done once', async () => {
  const { id } = await start(['gated', 'adder'], { isParallel: false });
  await expect.poll(() => mesh.tasks.at(-1)?.agentId).toBe('gated');
  await mesh.fall();
  openGate();
  expect(await here.orchestrations.find('ada', id)).toMatchObject({ progress: 0 });
  await mesh.rise();
  const ended = await untilEnded(here.orchestrations, { ownerId: 'ada', id });
  expect(ended).toMatchObject({ status: 'completed', steps: [{ result: 'late' }, {}] });
  const keys = mesh.tasks.map(({ key }) => key).filter((key) => key.startsWith(id));
  expect(keys).toEqual([`${id}:1`, `${id}:2`]);
});

test('a task that the mesh has forgotten fails', async () => {
  const { id } = await start(['endless']);
  await expect.poll(() => mesh.tasks.at(-1)?.key).toBe(`${id}:1`);
  mesh.intercept = (method, path) =>
    method === 'GET' && path.includes('/tasks/')
      ? { status: 404, body: { error: { code: 'TASK_NOT_FOUND', message: 'gone', details: {} } } }
      : undefined;
  await mesh.fall();
  await mesh.rise();
  const ended = await untilEnded(here.orchestrations, { ownerId: 'ada', id });
  mesh.intercept = () => undefined;
  expect(ended).toMatchObject({ status: 'failed', steps: [{ error: { code: 'TASK_NOT_FOUND' } }] });
});

test('what a replica leaves another goes on with, and no part is done twice', async () => {
  const gone = await openOrchestrations(ground, mesh.url);
  const request = { task: 'x', agents: ['adder', 'gated', 'named'], isParallel: false };
  const { id } = await gone.orchestrations.start(ada, { ...request, timeoutMs: 20_000 });
  await expect.poll(() => mesh.tasks.at(-1)?.agentId).toBe('gated');
  await gone[Symbol.asyncDispose]();
  openGate();
  const ended = await untilEnded(here.orchestrations, { ownerId: 'ada', id });
  expect(ended).toMatchObject({ status: 'completed', steps: [{}, { result: 'late' }, {}] });
  expect(mesh.tasks.filter(({ key }) => key.startsWith(id))).toHaveLength(3);
});

test('a replica that others hold for dead changes nothing any more', async () => {
  const { database, bus } = ground;
  let isCut = false;
  const query: Database['query'] = async (text, parameters) => {
    if (isCut) throw new Fault('unavailable', 'cut off');
    return database.query(text, parameters);
  };
  // What else a database can do nothing here asks for.
  const cut = { dialect: database.dialect, query } as Database;
  await using silent = await openOrchestrations({ database: cut, bus }, mesh.url);
  const request = { task: 'x', agents: ['gated', 'adder'], isParallel: false, timeoutMs: 20_000 };
  const { id } = await silent.orchestrations.start(ada, request);
  await expect.poll(() => mesh.tasks.at(-1)?.agentId).toBe('gated');
  const told: AgentProgress[] = [];
  const stop = silent.orchestrations.listen((progress) => told.push(progress));
  isCut = true;
  openGate();
  const ended = await untilEnded(here.orchestrations, { ownerId: 'ada', id });
  expect(ended).toMatchObject({ status: 'completed', steps: [{ result: 'late' }, {}] });
  isCut = false;
  await expect.poll(() => told.filter(({ status }) => status === 'completed').length).toBe(2);
  expect(await silent.orchestrations.find('ada', id)).toEqual(ended);
  stop();
  expect(mesh.tasks.filter(({ key }) => key.startsWith(id))).toHaveLength(2);
});

test('listeners on every replica are told what becomes of each agent, none twice', async () => {
  const told: Record<string, AgentProgress[]> = { here: [], there: [] };
  const stops = [
    here.orchestrations.listen((progress) => told['here']?.push(progress)),
    there.orchestrations.listen((progress) => told['there']?.push(progress)),
  ];
  const { id } = await outcome(['adder', 'broken'], { isParallel: false });
  await expect.poll(() => told['there']?.length).toBe(4);
  for (const stop of stops) stop();
  expect(told['here']).toEqual(told['there']);
  expect(told['here']).toMatchObject([
    { agentId: 'adder', status: 'running', progress: 0, ownerId: 'ada' },
    {
      agentId: 'adder',
      status: 'completed',
      progress: 1,
      message: `1 of 2 parts of ${id} have ended`,
    },
    { agentId: 'broken', status: 'running', progress: 0 },
    { agentId: 'broken', status: 'failed', progress: 1 },
  ]);
});

test('nobody has more than the allowed number at a time', async () => {
  await using strict = await openOrchestrations(ground, mesh.url, { runningMax: 1 });
  const bob = callerOf('bob');
  const request = { task: 'x', agents: ['endless'], isParallel: true, timeoutMs: 20_000 };
  const first = await strict.orchestrations.start(bob, request);
  const second = strict.orchestrations.start(bob, request);
  await expect(second).rejects.toMatchObject({ reason: 'too_many_orchestrations' });
  await strict.orchestrations.cancel('bob', first.id);
  const third = await strict.orchestrations.start(bob, request);
  await strict.orchestrations.cancel('bob', third.id);
  const listed = await strict.orchestrations.list('bob', { limit: 1, offset: 0 });
  expect(listed).toMatchObject({ total: 2, orchestrations: [{ id: third.id }] });
  const beyond = await strict.orchestrations.list('bob', { limit: 1, offset: 5 });
  expect(beyond).toEqual({ total: 2, orchestrations: [] });
});

test('text that no database stores is kept but for those characters', async () => {
  const result = await outcome(['adder'], { task: 'a\0b\ud800', context: { a: '\0\udfff' } });
  expect(result).toMatchObject({ status: 'completed', task: 'a\ufffdb\ufffd' });
});

async function call(method: string, path: string, body?: unknown, permissions = ['agent:execute']) {
  const token = await server.issuer.sign({ sub: 'usr_ada', permissions });
  const response = await fetch(url + path, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer: ReadJson = await response.json();
  return { status: response.status, body: answer };
}

const path = '/api/agents/orchestrate';

test('orchestrating needs a permission, reading one’s own does not', async () => {
  const refused = await call('POST', path, { task: 'x', agents: ['adder'] }, []);
  expect(refused).toMatchObject({
    status: 403,
    body: { error: { code: 'INSUFFICIENT_PERMISSIONS' } },
  });
  const listed = await call('GET', '/api/agents/orchestrations', undefined, []);
  expect(listed.status).toBe(200);
  const speaking = await call('POST', path, { task: 'x', agents: ['adder'] }, ['mesh:communicate']);
  expect(speaking.status).toBe(200);
});

test.each([
  ['no agents', { task: 'x', agents: [] }],
  ['agents that are no list', { task: 'x', agents: 'adder' }],
  ['no task', { agents: ['adder'] }],
  ['a blank task', { task: '  ', agents: ['adder'] }],
  ['a timeout that is none', { task: 'x', agents: ['adder'], options: { timeout: -1 } }],
  ['a context that is no object', { task: 'x', agents: ['adder'], context: 'y' }],
])('%s: 400', async (_, body) => {
  const refused = await call('POST', path, body);
  expect(refused).toMatchObject({ status: 400, body: { error: { code: 'VALIDATION_ERROR' } } });
});

test('what is not there is 404', async () => {
  const started = await call('POST', path, { task: 'x', agents: ['ghost'] });
  expect(started).toMatchObject({ status: 404, body: { error: { code: 'AGENT_NOT_FOUND' } } });
  for (const [method, place] of [
    ['GET', `${path}/orc_1/progress`],
    ['GET', `${path}/nothing-so/progress`],
    ['DELETE', `${path}/orc_1`],
  ] as const) {
    const { status, body } = await call(method, place);
    expect([status, body.error.code]).toEqual([404, 'ORCHESTRATION_NOT_FOUND']);
  }
});

test('an orchestration answers as the interface shows, and its results follow', async () => {
  const started = await call('POST', path, {
    task: 'add',
    agents: ['adder', 'broken'],
    context: { a: 1 },
    options: { parallel: false, timeout: 20_000 },
  });
  expect(started.status).toBe(200);
  const { orchestration_id: id, progress_url: place } = started.body;
  expect(started.body).toEqual({
    orchestration_id: expect.stringMatching(/^orc_/),
    status: 'running',
    agents: [
      { id: 'adder', name: 'adder', status: 'running' },
      { id: 'broken', name: 'broken', status: 'pending' },
    ],
    progress_url: `${path}/${id}/progress`,
  });
  await expect.poll(async () => (await call('GET', place)).body.progress).toBe(1);
  const { body } = await call('GET', place);
  const time = expect.stringMatching(/^\d{4}-.*Z$/);
  const times = { started_at: time, ended_at: time, task_id: expect.any(String) };
  expect(body).toEqual({
    orchestration_id: id,
    status: 'partial',
    progress: 1,
    task: 'add',
    agents: [
      { id: 'adder', name: 'adder', status: 'completed', ...times },
      { id: 'broken', name: 'broken', status: 'failed', ...times },
    ],
    results: [
      { agent_id: 'adder', name: 'adder', status: 'completed', result: { got: 'add' } },
      {
        agent_id: 'broken',
        name: 'broken',
        status: 'failed',
        error: { code: 'AGENT_FAILED', message: 'out of ink' },
      },
    ],
    created_at: time,
    ended_at: time,
  });
});

test('one that runs is listed and can be called off', async () => {
  const started = await call('POST', path, { task: 'wait', agents: ['endless'] });
  const { orchestration_id: id } = started.body;
  const listed = await call('GET', '/api/agents/orchestrations?limit=1');
  expect(listed.body).toMatchObject({
    orchestrations: [{ orchestration_id: id, status: 'running', progress: 0 }],
    limit: 1,
    offset: 0,
  });
  const cancelled = await call('DELETE', `${path}/${id}`, undefined, []);
  expect(cancelled).toMatchObject({ status: 200, body: { status: 'cancelled', progress: 1 } });
});
