import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../kit/database/database.ts';
import { openTestTables } from '../kit/database/testing.ts';
import { SmallDrupal, startSystem } from './components/cms/testing.ts';
import { workflow } from './service.ts';
import { startWorkflow, type Caller } from './testing.ts';

let folder: string;
let cms: Awaited<ReturnType<typeof startSystem>>;
let database: Database;
let running: Awaited<ReturnType<typeof startWorkflow>>;
let call: Caller;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ennead-workflow-secrets-'));
  const drupal = new SmallDrupal('Bearer operator');
  cms = await startSystem((asked) => drupal.answer(asked));
  database = await openTestTables('workflow', workflow.migrations);
  await restart();
});

afterAll(async () => {
  await running[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
  await cms[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

async function restart(): Promise<void> {
  await (running as typeof running | undefined)?.[Symbol.asyncDispose]();
  const environment = { CMS_URL: cms.url };
  running = await startWorkflow({ database, dataFolder: folder, environment });
  call = await running.callAs('usr_ada');
}

const root = '/api/v1/workflows';
const login = (password: string) => ({
  id: 'login',
  type: 'UserLogin',
  data: { username: 'eva', password },
});
/** `check` says whether the token is what it should be, without saying it. */
const check = {
  id: 'check',
  type: 'Condition',
  data: { condition: 'login.token == "csrf-1"' },
};
const checked = (password: string, before: object[] = []) => {
  const nodes = [login(password), ...before, check] as { id: string }[];
  const edges = nodes.slice(1).map(({ id }, at) => ({ source: nodes[at]?.id, target: id }));
  return { nodes, edges };
};
const now = { options: { async: false } };

async function create(flow: unknown): Promise<string> {
  const made = await call('POST', root, { body: { name: 'Login', flow } });
  expect(made).toMatchObject({ status: 201 });
  return made.body.id;
}

/** Everything that the service keeps, as text. */
async function stored(): Promise<string> {
  const tables = await database.query<{ name: string }>(
    `select table_name as name from information_schema.tables where table_schema = 'workflow'`,
  );
  const texts = await Promise.all(
    tables.map(async ({ name }) => {
      const rows = await database.query<{ row: string }>(
        `select t::text as row from workflow.${name} t`,
      );
      return rows.map(({ row }) => row).join('\n');
    }),
  );
  return texts.join('\n');
}

async function eventsOf(executionId: string): Promise<string> {
  const response = await call('GET', `/api/v1/executions/${executionId}`);
  return JSON.stringify(response.body);
}

test('a secret setting is sealed where it lies and hidden where the flow is shown', async () => {
  const id = await create(checked('correct'));
  expect(await stored()).not.toContain('correct');
  const shown = await call('GET', `${root}/${id}`);
  expect(shown.body.flow.nodes[0].data).toEqual({ username: 'eva', password: '***' });
  const exported = await call('GET', `${root}/${id}/export?format=ennead`);
  expect(exported.body.flow.nodes[0].data.password).toBe('***');
  const yaml = await call('GET', `${root}/${id}/export?format=serverless-workflow`);
  expect(yaml.status).toBe(200);
  expect(yaml.body).not.toContain('correct');
  const done = await call('POST', `${root}/${id}/execute`, { body: now });
  expect(done.body).toMatchObject({ status: 'completed', result: { check: { result: true } } });
});

test('a hidden secret that is sent back stays what it was; a new one replaces it', async () => {
  const id = await create(checked('correct'));
  const { flow } = (await call('GET', `${root}/${id}`)).body;
  const kept = await call('PUT', `${root}/${id}`, { body: { flow } });
  expect(kept).toMatchObject({ status: 200, body: { version: 2 } });
  const diff = await call('GET', `${root}/${id}/versions/diff?from=1&to=2`);
  expect(JSON.stringify(diff.body.nodes)).not.toContain('data');
  await restart();
  const done = await call('POST', `${root}/${id}/execute`, { body: now });
  expect(done.body).toMatchObject({ status: 'completed' });
  await call('PUT', `${root}/${id}`, { body: { flow: checked('mistaken') } });
  const failed = await call('POST', `${root}/${id}/execute`, { body: now });
  expect(failed.body).toMatchObject({ status: 'failed', error: { code: 'LOGIN_FAILED' } });
  expect(await stored()).not.toContain('mistaken');
});

test('a hidden secret of which nothing is kept is refused', async () => {
  const made = await call('POST', root, { body: { name: 'Login', flow: checked('***') } });
  expect(made).toMatchObject({ status: 400, body: { error: { code: 'INVALID_FLOW' } } });
  expect(made.body.error.details.faults).toMatchObject([{ nodeId: 'login', path: '/password' }]);
});

test('inputs for a secret setting are sealed, and a placeholder for them stays one', async () => {
  const id = await create(checked('{{ inputs.word }}'));
  const { flow } = (await call('GET', `${root}/${id}`)).body;
  expect(flow.nodes[0].data.password).toBe('{{ inputs.word }}');
  const named = { ...now, inputs: { word: 'correct' } };
  const one = await call('POST', `${root}/${id}/execute`, { body: named });
  expect(one.body).toMatchObject({ status: 'completed' });
  const direct = { ...now, inputs: { login: { password: 'correct' } } };
  const other = await call('POST', `${root}/${id}/execute`, { body: direct });
  expect(other.body).toMatchObject({ status: 'completed' });
  const rerun = `/api/v1/executions/${other.body.executionId}/rerun`;
  const again = await call('POST', rerun, { body: { fromNode: 'login' } });
  const path = `/api/v1/executions/${again.body.executionId}?wait=10`;
  expect((await call('GET', path)).body).toMatchObject({ status: 'completed' });
  const batch = await call('POST', `${root}/${id}/batch`, {
    body: { inputs: [{ word: 'correct' }] },
  });
  const batchPath = `/api/v1/batches/${batch.body.batchId}`;
  await expect.poll(async () => (await call('GET', batchPath)).body.status).toBe('completed');
  expect((await call('GET', batchPath)).body.progress).toMatchObject({ completed: 1 });
  expect(await stored()).not.toContain('correct');
});

test('a secret output is hidden and sealed, while later nodes see it, also after a restart', async () => {
  const wait = { id: 'ask', type: 'Approval', data: { message: 'Go on?' } };
  const id = await create(checked('correct', [wait]));
  const { executionId } = (await call('POST', `${root}/${id}/execute`, { body: {} })).body;
  const path = `/api/v1/executions/${executionId}`;
  const statuses = async () =>
    (await call('GET', path)).body.nodes.map(({ status }: { status: string }) => status);
  await expect.poll(statuses).toEqual(['completed', 'waiting']);
  expect(await eventsOf(executionId)).toContain('"token":"***"');
  await restart();
  await call('POST', `${path}/approvals/ask`, { body: { approved: true } });
  const done = await call('GET', `${path}?wait=10`);
  expect(done.body).toMatchObject({ status: 'completed', result: { check: { result: true } } });
  expect(JSON.stringify(done.body)).not.toContain('csrf-1');
  expect(await stored()).not.toContain('csrf-1","user');
});

test('a loop, a parallel and the result hide the secrets of the nodes they gather', async () => {
  const each = { id: 'each', type: 'Loop', data: { items: [1, 2] } };
  const looped = {
    nodes: [each, login('correct')],
    edges: [
      { source: 'each', target: 'login' },
      { source: 'login', target: 'each' },
    ],
  };
  const both = {
    nodes: [{ id: 'both', type: 'Parallel', data: {} }, login('correct')],
    edges: [{ source: 'both', target: 'login' }],
  };
  for (const flow of [looped, both]) {
    const id = await create(flow);
    const done = await call('POST', `${root}/${id}/execute`, { body: now });
    expect(done.body).toMatchObject({ status: 'completed' });
    const text = JSON.stringify(done.body);
    expect(text).toContain('"token":"***"');
    expect(text).not.toContain('csrf-1');
  }
  expect(await stored()).not.toContain('"token":"csrf');
});

test('a header that looks secret is hidden and sealed, and kept when it is sent back', async () => {
  const headers = {
    Authorization: 'Bearer hidden-1',
    'x-team': 'red',
    'X-Api-Key': '{{ inputs.k }}',
  };
  const ask = { id: 'ask', type: 'HttpRequest', data: { url: 'https://example.com/', headers } };
  const id = await create({ nodes: [ask], edges: [] });
  const { flow } = (await call('GET', `${root}/${id}`)).body;
  expect(flow.nodes[0].data.headers).toEqual({ ...headers, Authorization: '***' });
  const kept = await call('PUT', `${root}/${id}`, { body: { flow } });
  expect(kept).toMatchObject({ status: 200, body: { version: 2 } });
  const yaml = await call('GET', `${root}/${id}/export?format=serverless-workflow`);
  expect(yaml.body).not.toContain('hidden-1');
  expect(await stored()).not.toContain('hidden-1');
});

test('a draft is shown to its owner alone, and its workflow too while nothing is published', async () => {
  const bob = await running.callAs('usr_bob');
  const body = { name: 'Draft', flow: checked('correct'), status: 'draft' };
  const { id } = (await call('POST', root, { body })).body;
  const paths = ['', '/versions', '/export?format=ennead', '/export?format=serverless-workflow'];
  for (const path of paths) {
    expect(await call('GET', `${root}/${id}${path}`)).toMatchObject({ status: 200 });
    const refused = { status: 404, body: { error: { code: 'WORKFLOW_NOT_FOUND' } } };
    expect(await bob('GET', `${root}/${id}${path}`)).toMatchObject(refused);
  }
  const idsOf = async (by: Caller) =>
    (await by('GET', root)).body.workflows.map((one: { id: string }) => one.id);
  expect(await idsOf(call)).toContain(id);
  expect(await idsOf(bob)).not.toContain(id);
  await call('POST', `${root}/${id}/publish`, { body: {} });
  await call('PUT', `${root}/${id}`, { body: { flow: checked('other'), publish: false } });
  expect(await bob('GET', `${root}/${id}`)).toMatchObject({
    status: 200,
    body: { flowVersion: 1 },
  });
  expect(await bob('GET', `${root}/${id}?version=2`)).toMatchObject({ status: 404 });
  const listed = (await bob('GET', `${root}/${id}/versions`)).body;
  expect(listed).toMatchObject({ total: 1, versions: [{ version: 1 }] });
});
