import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pathsOf } from '../kit/contract.ts';
import type { Database } from '../kit/database/database.ts';
import { openTestTables } from '../kit/database/testing.ts';
import { TestClient } from '../kit/sockets/testing.ts';
import { workflowContract } from './contract.ts';
import { workflow } from './service.ts';
import type { JsonAnswer } from '../kit/http/testing.ts';
import { caller, startWorkflow } from './testing.ts';

type Running = Awaited<ReturnType<typeof startWorkflow>>;
type Headers = Readonly<Record<string, string>>;
type Call = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Headers,
) => Promise<JsonAnswer>;

async function callAs(subject: string, permissions?: readonly string[]): Promise<Call> {
  const call = await running.callAs(subject, permissions);
  return (method, path, body, headers = {}) => call(method, path, { body, headers });
}

let folder: string;
let database: Database;
let running: Running;
let ada: Call;
let bob: Call;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ennead-workflow-test-'));
  database = await openTestTables('workflow', workflow.migrations);
  await restart();
});

afterAll(async () => {
  await running[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

/** Starts the service anew, on the same database. */
async function restart(): Promise<void> {
  await (running as Running | undefined)?.[Symbol.asyncDispose]();
  running = await startWorkflow({ database, dataFolder: folder });
  ada = await callAs('usr_ada');
  bob = await callAs('usr_bob');
}

const root = '/api/v1/workflows';
const merge = (id: string, inputs: unknown) => ({ id, type: 'Merge', data: { inputs } });

/** Two nodes, the second of which reads the first. */
const pair = {
  nodes: [merge('a', { said: '{{ inputs.word }}' }), merge('b', { heard: '{{ a.merged.said }}' })],
  edges: [{ source: 'a', target: 'b' }],
};
const waiting = {
  nodes: [
    { id: 'ask', type: 'Approval', data: { message: 'Go on?' } },
    merge('after', { approved: '{{ ask.approved }}' }),
  ],
  edges: [{ source: 'ask', target: 'after', sourceHandle: 'approved' }],
};

async function create(flow: unknown, call = ada): Promise<string> {
  const { status, body } = await call('POST', root, { name: 'Test', flow });
  expect({ status, body }).toMatchObject({ status: 201 });
  return body.id;
}

async function execute(id: string, inputs: unknown = {}, options: unknown = {}): Promise<string> {
  const { status, body } = await ada('POST', `${root}/${id}/execute`, { inputs, options });
  expect({ status, body }).toMatchObject({ status: 202 });
  return body.executionId;
}

async function statusOf(executionId: string, wait = 10) {
  return (await ada('GET', `/api/v1/executions/${executionId}?wait=${wait}`)).body;
}

describe('whoever may not', () => {
  const routes = Object.entries(workflowContract.routes).flatMap(([name, route]) =>
    'auth' in route ? [] : [[name, route] as const],
  );
  const pathOf = (path: string) => path.replaceAll(/:\w+/g, 'x');

  test.each(routes)('is refused without a token: %s', async (_name, route) => {
    for (const path of pathsOf(route)) {
      const { status } = await caller(running.url)(route.method, pathOf(path));
      expect(status).toBe(401);
    }
  });

  test('is refused without the permission, and told which', async () => {
    const nobody = await callAs('usr_nobody', []);
    for (const [, route] of routes) {
      if (!('permission' in route)) continue;
      const { status, body } = await nobody(route.method, pathOf(route.url));
      expect([route.url, status]).toEqual([route.url, 403]);
      if (route.url === '/mcp') expect(body).toMatchObject({ jsonrpc: '2.0' });
      else expect(body.error.code).toBe('INSUFFICIENT_PERMISSIONS');
    }
  });

  test('gets no stream', async () => {
    for (const { url } of Object.values(workflowContract.sockets)) {
      const client = new TestClient(running.url + pathOf(url));
      expect((await client.refused()).status).toBe(401);
    }
  });

  test('may read with `workflow:read` alone, and change nothing', async () => {
    const id = await create(pair);
    const reader = await callAs('usr_reader', ['workflow:read']);
    expect((await reader('GET', `${root}/${id}`)).status).toBe(200);
    expect((await reader('POST', `${root}/${id}/execute`, {})).status).toBe(403);
    expect((await reader('PUT', `${root}/${id}`, { name: 'x' })).status).toBe(403);
    expect((await reader('DELETE', `${root}/${id}`)).status).toBe(403);
  });

  test('sees of others the workflows, and neither their executions nor their secrets', async () => {
    const id = await create(pair);
    const executionId = await execute(id);
    expect((await bob('GET', `${root}/${id}`)).status).toBe(200);
    expect((await bob('GET', `/api/v1/executions/${executionId}`)).status).toBe(404);
    expect((await bob('POST', `/api/v1/executions/${executionId}/cancel`)).status).toBe(404);
    const secret = await bob('GET', `${root}/${id}/secret`);
    expect([secret.status, secret.body.error.code]).toEqual([403, 'NOT_THE_OWNER']);
    expect((await bob('PUT', `${root}/${id}`, { name: 'mine' })).status).toBe(403);
    const own = await ada('GET', `${root}/${id}/secret`);
    expect(own.headers.get('cache-control')).toBe('no-store');
    expect(own.body.secret).toMatch(/^[\w-]{43}$/);
  });
});

test('a draft is there for its owner only, whatever is asked of it', async () => {
  const { body } = await ada('POST', root, { name: 'Draft', flow: pair, status: 'draft' });
  const asked = [
    ['GET', ''],
    ['GET', '/versions'],
    ['GET', '/export'],
    ['GET', '/tests'],
    ['GET', '/triggers'],
    ['POST', '/validate'],
    ['POST', '/tests/run'],
  ] as const;
  for (const [method, path] of asked) {
    const given = method === 'POST' ? {} : undefined;
    const own = await ada(method, `${root}/${body.id}${path}`, given);
    expect([path, own.status]).toEqual([path, 200]);
    const other = await bob(method, `${root}/${body.id}${path}`, given);
    expect([path, other.body.error?.code]).toEqual([path, 'WORKFLOW_NOT_FOUND']);
  }
  for (const [path, given] of [
    ['execute', {}],
    ['execute', { options: { version: 1 } }],
    ['batch', { inputs: [{}] }],
  ] as const) {
    const other = await bob('POST', `${root}/${body.id}/${path}`, given);
    expect([path, other.status, other.body.error?.code]).toEqual([path, 404, 'WORKFLOW_NOT_FOUND']);
  }
});

test('a workflow is made, run, followed and read as the interface says', async () => {
  const made = await ada('POST', root, {
    name: 'Echo',
    description: 'Says it again',
    category: 'test',
    flow: pair,
  });
  expect(made.status).toBe(201);
  const { id } = made.body;
  expect(made.body).toMatchObject({
    name: 'Echo',
    status: 'active',
    version: 1,
    endpoints: { execute: `${root}/${id}/execute`, monitor: `${root}/${id}/executions` },
  });
  const started = await ada('POST', `${root}/${id}/execute`, { inputs: { word: 'hello' } });
  expect(started.status).toBe(202);
  expect(started.body).toMatchObject({ workflowId: id, status: 'running' });
  expect(started.body.estimatedDuration).toBeTypeOf('number');
  const { executionId, monitorUrl } = started.body;
  expect(monitorUrl).toBe(`ws://workflow.test/api/v1/executions/${executionId}/stream`);
  const token = await running.tokenOf('usr_ada');
  const stream = await new TestClient(
    `${running.url}/api/v1/executions/${executionId}/stream?access_token=${token}`,
  ).opened();
  const events = (await stream.take(5)) as { type: string; seq: number }[];
  expect(events.map(({ type }) => type)).toEqual([
    'node-started',
    'node-completed',
    'node-started',
    'node-completed',
    'workflow-completed',
  ]);
  expect(events.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5]);
  expect(await stream.closed()).toMatchObject({ code: 1000 });
  const status = await statusOf(executionId);
  expect(status).toMatchObject({
    executionId,
    workflowId: id,
    status: 'completed',
    result: { b: { merged: { heard: 'hello' } } },
  });
  expect(status.nodes.map((node: { nodeId: string }) => node.nodeId)).toEqual(['a', 'b']);
  const list = await ada('GET', made.body.endpoints.monitor);
  expect(list.body).toMatchObject({ total: 1, executions: [{ executionId }] });
});

test('`async: false` answers the finished execution', async () => {
  const id = await create(pair);
  const body = { inputs: { word: 'now' }, options: { async: false } };
  const done = await ada('POST', `${root}/${id}/execute`, body);
  expect(done.status).toBe(200);
  expect(done.body).toMatchObject({
    status: 'completed',
    result: { b: { merged: { heard: 'now' } } },
  });
});

test('inputs by node id replace the settings of that node', async () => {
  const id = await create(pair);
  const body = { inputs: { a: { inputs: { said: 'replaced' } } }, options: { async: false } };
  const done = await ada('POST', `${root}/${id}/execute`, body);
  expect(done.body.result).toEqual({ b: { merged: { heard: 'replaced' } } });
});

test('the same idempotency key starts nothing twice, in the header as in the options', async () => {
  const id = await create(pair);
  const first = await execute(id, {}, { idempotencyKey: 'key-1' });
  const again = await ada('POST', `${root}/${id}/execute`, {}, { 'idempotency-key': 'key-1' });
  expect(again.body.executionId).toBe(first);
  const inputs = { a: { other: true } };
  const other = await ada(
    'POST',
    `${root}/${id}/execute`,
    { inputs },
    { 'idempotency-key': 'key-1' },
  );
  expect([other.status, other.body.error.code]).toEqual([409, 'IDEMPOTENCY_KEY_REUSED']);
  const bad = await ada('POST', `${root}/${id}/execute`, {}, { 'idempotency-key': 'a b' });
  expect(bad.status).toBe(400);
});

test.each([' ', '\u3000', 'two\nlines', '\ud800'])('%j is no name', async (name) => {
  const { status, body } = await ada('POST', root, { name, flow: pair });
  expect([status, body.error.details.param]).toEqual([400, 'name']);
});

test('a flow that does not hold is answered with every fault, by making as by validating', async () => {
  const flow = {
    nodes: [{ id: 'a', type: 'Nothing' }, merge('b', '{{ c.x }}')],
    edges: [{ source: 'a', target: 'z' }],
  };
  const made = await ada('POST', root, { name: 'Bad', flow });
  expect([made.status, made.body.error.code]).toEqual([400, 'INVALID_FLOW']);
  const codes = made.body.error.details.faults.map(({ code }: { code: string }) => code);
  expect(codes).toEqual(expect.arrayContaining(['UNKNOWN_COMPONENT', 'DANGLING_EDGE']));
  const checked = await ada('POST', `${root}/validate`, { flow });
  expect(checked.body).toEqual({ valid: false, faults: made.body.error.details.faults });
  const fine = await ada('POST', `${root}/validate`, { flow: pair });
  expect(fine.body).toEqual({ valid: true, faults: [] });
});

test('what is waited for can be approved, cancelled and resumed', async () => {
  const id = await create(waiting);
  const approved = await execute(id);
  const path = `/api/v1/executions/${approved}/approvals/ask`;
  await expect.poll(async () => (await statusOf(approved, 0)).nodes[0]?.status).toBe('waiting');
  expect((await bob('POST', path, { approved: true })).status).toBe(404);
  expect((await ada('POST', path, { approved: true })).status).toBe(200);
  expect(await statusOf(approved)).toMatchObject({
    status: 'completed',
    result: { after: { merged: { approved: true } } },
  });
  const cancelled = await execute(id);
  await expect.poll(async () => (await statusOf(cancelled, 0)).nodes[0]?.status).toBe('waiting');
  const end = await ada('POST', `/api/v1/executions/${cancelled}/cancel`);
  expect(end.body.status).toBe('cancelled');
  const resumed = await ada('POST', `/api/v1/executions/${cancelled}/resume`);
  expect(resumed.status).toBe(202);
  await ada('POST', `/api/v1/executions/${cancelled}/cancel`);
});

test('a restart keeps workflows, their secrets, and executions that wait', async () => {
  const id = await create(waiting);
  const { secret } = (await ada('GET', `${root}/${id}/secret`)).body;
  const executionId = await execute(id);
  await expect.poll(async () => (await statusOf(executionId, 0)).nodes[0]?.status).toBe('waiting');
  await restart();
  expect((await ada('GET', `${root}/${id}/secret`)).body.secret).toBe(secret);
  const path = `/api/v1/executions/${executionId}/approvals/ask`;
  expect((await ada('POST', path, { approved: true })).status).toBe(200);
  expect(await statusOf(executionId)).toMatchObject({ status: 'completed' });
});

test('versions are published, rolled back, compared, and guarded by `If-Match`', async () => {
  const id = await create(pair);
  const read = await ada('GET', `${root}/${id}`);
  const etag = read.headers.get('etag') ?? '';
  const flow = { ...pair, nodes: [...pair.nodes, merge('c', {})] };
  const changed = await ada('PUT', `${root}/${id}`, { flow }, { 'if-match': etag });
  expect(changed.body).toMatchObject({ version: 2, latestVersion: 2, components: 3 });
  const late = await ada('PUT', `${root}/${id}`, { name: 'late' }, { 'if-match': etag });
  expect([late.status, late.body.error.code]).toEqual([409, 'WORKFLOW_CHANGED']);
  const diff = await ada('GET', `${root}/${id}/versions/diff?from=1&to=2`);
  expect(diff.body.nodes).toEqual({ added: ['c'], removed: [], changed: [] });
  const back = await ada('POST', `${root}/${id}/rollback`, { version: 1 });
  expect(back.body).toMatchObject({ version: 1, latestVersion: 2 });
  const executionId = await execute(id);
  expect(await statusOf(executionId)).toMatchObject({ version: 1 });
  const { body } = await ada('GET', `${root}/${id}/versions`);
  expect(body.versions).toMatchObject([
    { version: 2, status: 'published', isCurrent: false },
    { version: 1, status: 'published', isCurrent: true },
  ]);
  expect((await ada('GET', `${root}/${id}?version=2`)).body.flow.nodes).toHaveLength(3);
});

test('a change may name the `ETag` of whichever answer came before it', async () => {
  const made = await ada('POST', root, { name: 'tagged', flow: pair });
  const path = `${root}/${made.body.id}`;
  const rename = (from: typeof made, name: string) =>
    ada('PUT', path, { name }, { 'if-match': from.headers.get('etag') ?? 'none' });
  const renamed = await rename(made, 'one');
  expect([renamed.status, (await rename(made, 'late')).status]).toEqual([200, 409]);
  const archived = await ada('DELETE', path);
  const published = await ada('POST', `${path}/publish`, {});
  expect((await rename(archived, 'late')).status).toBe(409);
  expect((await rename(published, 'two')).body.name).toBe('two');
  const back = await ada('POST', `${path}/rollback`, { version: 1 });
  expect((await rename(back, 'three')).body.name).toBe('three');
});

test('an archived workflow takes no starts and keeps its executions', async () => {
  const id = await create(pair);
  const executionId = await execute(id);
  expect((await ada('DELETE', `${root}/${id}`)).body.status).toBe('archived');
  const start = await ada('POST', `${root}/${id}/execute`, {});
  expect([start.status, start.body.error.code]).toEqual([409, 'WORKFLOW_NOT_ACTIVE']);
  expect(await statusOf(executionId)).toMatchObject({ status: 'completed' });
  const unknown = await ada('POST', `${root}/wfl_none/execute`, {});
  expect([unknown.status, unknown.body.error.code]).toEqual([404, 'WORKFLOW_NOT_FOUND']);
});

test('callbacks go to no private address, and of a built-in workflow need a secret', async () => {
  const id = await create(pair);
  const start = (workflowId: string, callbacks: unknown) =>
    ada('POST', `${root}/${workflowId}/execute`, { options: { callbacks } });
  const internal = await start(id, { onComplete: 'http://169.254.169.254/latest' });
  expect(internal.status).toBe(403);
  expect((await start(id, { onError: 'file:///etc/passwd' })).status).toBe(400);
  const unsigned = await start('tpl_summarize_text', { onComplete: 'https://example.com/' });
  expect(unsigned.body.error.code).toBe('CALLBACK_SECRET_REQUIRED');
});

test('tests of a flow run with pinned outputs and say what did not hold', async () => {
  const id = await create(pair);
  const tests = [
    {
      name: 'echoes',
      inputs: { word: 'x' },
      expect: [
        { node: 'b', path: 'merged.heard', equals: 'x' },
        { cel: 'a.merged.said == "x" && inputs.word == "x"' },
        { path: 'b.merged', contains: 'y' },
      ],
    },
    {
      name: 'pinned',
      pinned: { a: { merged: { said: 'pinned' } } },
      expect: [{ path: 'b.merged.heard', equals: 'pinned' }],
    },
    { name: 'fails', status: 'failed', expect: [] },
  ];
  expect((await bob('PUT', `${root}/${id}/tests`, { tests })).status).toBe(403);
  expect((await ada('PUT', `${root}/${id}/tests`, { tests })).status).toBe(200);
  const twice = { tests: [tests[0], tests[0]] };
  expect((await ada('PUT', `${root}/${id}/tests`, twice)).status).toBe(400);
  const { body } = await ada('POST', `${root}/${id}/tests/run`, {});
  expect(body).toMatchObject({ passed: false, total: 3, failed: 2 });
  expect(body.results).toMatchObject([
    { name: 'echoes', passed: false, failures: [{ index: 2 }] },
    { name: 'pinned', passed: true, failures: [] },
    { name: 'fails', passed: false, failures: [{ index: -1 }] },
  ]);
  const one = await ada('POST', `${root}/${id}/tests/run`, { name: 'pinned' });
  expect(one.body).toMatchObject({ passed: true, total: 1 });
  expect((await ada('POST', `${root}/${id}/tests/run`, { name: 'none' })).status).toBe(404);
});

test('the catalog shows built-in and active workflows, by category and complexity', async () => {
  const id = await create(pair);
  const guest = await callAs('usr_guest', ['workflow:execute']);
  const { body } = await guest('GET', `${root}/catalog`);
  const item = body.workflows.find((one: { id: string }) => one.id === id);
  expect(item).toMatchObject({ complexity: 'simple', components: 2, builtIn: false });
  const text = await guest('GET', `${root}/catalog?category=text&complexity=simple&limit=2`);
  expect(text.body.workflows).toHaveLength(2);
  for (const one of text.body.workflows) {
    expect(one).toMatchObject({ category: 'text', complexity: 'simple', builtIn: true });
    expect(one.estimatedDuration).toBeGreaterThan(0);
  }
});

test('every template holds, and becomes a workflow of one’s own', async () => {
  const { body } = await ada('GET', `${root}/templates`);
  expect(body.templates.length).toBeGreaterThanOrEqual(8);
  for (const { id, flow } of body.templates) {
    const { body: checked } = await ada('POST', `${root}/validate`, { flow });
    expect({ id, ...checked }).toEqual({ id, valid: true, faults: [] });
  }
  const made = await ada('POST', `${root}/templates/tpl_translate_list/instantiate`, {
    name: 'Mine',
  });
  expect(made.status).toBe(201);
  expect(made.body).toMatchObject({ name: 'Mine', templateId: 'tpl_translate_list' });
  const after = await ada('GET', `${root}/templates`);
  const used = after.body.templates.find((one: { id: string }) => one.id === 'tpl_translate_list');
  expect(used.usageCount).toBe(1);
  expect((await ada('PUT', `${root}/tpl_translate_list`, { name: 'x' })).status).toBe(403);
});

test('health counts what there is', async () => {
  const before = (await caller(running.url)('GET', '/api/health')).body;
  expect(before).toMatchObject({ status: 'healthy', version: '0.1.0' });
  expect(before.engine).toEqual({ status: 'running', version: '0.1.0' });
  const id = await create(waiting);
  const executionId = await execute(id);
  await expect
    .poll(async () => (await caller(running.url)('GET', '/health')).body.executions)
    .toEqual({
      active: before.executions.active + 1,
      queued: 0,
      totalToday: before.executions.totalToday + 1,
    });
  await ada('POST', `/api/v1/executions/${executionId}/cancel`);
});
