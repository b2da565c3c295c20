import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../kit/database/database.ts';
import { openTestTables } from '../kit/database/testing.ts';
import { SmallDrupal, startSystem, type Asked, type Reply } from './components/cms/testing.ts';
import { workflow } from './service.ts';
import { startWorkflow, type Caller } from './testing.ts';

const drupal = new SmallDrupal('Bearer operator');
let folder: string;
let cms: Awaited<ReturnType<typeof startSystem>>;
let answer: (asked: Asked) => Reply;
let database: Database;
let running: Awaited<ReturnType<typeof startWorkflow>>;
let call: Caller;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ennead-workflow-systems-'));
  await mkdir(join(folder, 'files'));
  await writeFile(join(folder, 'files', 'guide.md'), 'Write short.');
  cms = await startSystem((asked) => answer(asked));
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
  answer = (asked) => drupal.answer(asked);
  const environment = {
    CMS_URL: cms.url,
    CMS_TOKEN: 'operator',
    WORKFLOW_FILES_ROOT: join(folder, 'files'),
  };
  running = await startWorkflow({ database, dataFolder: folder, environment });
  call = await running.callAs('usr_ada');
}

interface Step {
  readonly id: string;
  readonly type: string;
  readonly data: object;
}

async function create(nodes: readonly Step[]): Promise<string> {
  const edges = nodes.slice(1).map(({ id }, at) => ({ source: nodes[at]?.id, target: id }));
  const body = { name: 'Content', flow: { nodes, edges } };
  const made = await call('POST', '/api/v1/workflows', { body });
  expect(made).toMatchObject({ status: 201 });
  return made.body.id;
}

async function run(nodes: readonly Step[]) {
  const path = `/api/v1/workflows/${await create(nodes)}/execute`;
  return (await call('POST', path, { body: { options: { async: false } } })).body;
}

const written: Step = {
  id: 'made',
  type: 'EntityCreate',
  data: { bundle: 'article', fields: { title: 'One' } },
};
const endOf = async (executionId: string) => {
  let found = (await call('GET', `/api/v1/executions/${executionId}`)).body;
  await expect
    .poll(async () => {
      found = (await call('GET', `/api/v1/executions/${executionId}`)).body;
      return found.status;
    })
    .not.toBe('running');
  return found;
};

test('content that is made, changed and read again is what the CMS has', async () => {
  const place = { nid: '{{ made.nid }}' };
  const { status, result } = await run([
    { id: 'guide', type: 'FileSystemRead', data: { path: 'guide.md' } },
    { ...written, data: { bundle: 'article', fields: { title: '{{ guide.content }}' } } },
    { id: 'changed', type: 'EntityUpdate', data: { ...place, fields: { sticky: true } } },
    { id: 'read', type: 'EntityLoad', data: place },
  ]);
  expect(status).toBe('completed');
  expect(result.read.entity).toMatchObject({ title: 'Write short.', sticky: true });
});

test.each([
  ['EntityCreate', { bundle: 'Article', fields: {} }],
  ['EntityLoad', { uuid: '../x' }],
  ['EntityUpdate', { nid: 0, fields: {} }],
  ['FileSystemRead', { path: 'guide.md', encoding: 'latin1' }],
])('a flow with %s and the settings %j is not saved', async (type, data) => {
  const flow = { nodes: [{ id: 'node', type, data }] };
  const { status, body } = await call('POST', '/api/v1/workflows', { body: { name: 'n', flow } });
  expect([status, body.error.details.faults[0]]).toMatchObject([400, { code: 'BAD_SETTING' }]);
});

test.each([
  ['EntityLoad', { nid: 404, bundle: 'article' }, 'ENTITY_NOT_FOUND'],
  ['EntityUpdate', { nid: 404, fields: {} }, 'ENTITY_NOT_FOUND'],
  ['EntityCreate', { bundle: 'article', fields: {} }, 'CMS_REJECTED'],
  ['FileSystemRead', { path: 'none.md' }, 'FILE_NOT_FOUND'],
  ['FileSystemRead', { path: '../secret' }, 'PATH_OUTSIDE_ROOT'],
])('%s that cannot do %j fails the execution as %s', async (type, data, code) => {
  const { status, error } = await run([{ id: 'node', type, data }]);
  expect([status, error]).toMatchObject(['failed', { nodeId: 'node', code }]);
});

test('a maintenance page of the CMS is its failure, and no content that is missing', async () => {
  answer = () => ({ text: '<html>Back soon</html>' });
  for (const step of [written, { id: 'r', type: 'EntityLoad', data: { nid: 1, bundle: 'a' } }]) {
    expect((await run([step])).error).toMatchObject({ code: 'CMS_FAILED' });
  }
});

test('content whose making was under way when the service ended is there once', async () => {
  const before = drupal.entities.length;
  const asked: Asked[] = [];
  answer = (one) => {
    asked.push(one);
    drupal.answer(one);
    return 'hang';
  };
  const id = await create([written]);
  const { body } = await call('POST', `/api/v1/workflows/${id}/execute`, { body: {} });
  await expect.poll(() => asked.length).toBe(1);
  await restart();
  const { status, result } = await endOf(body.executionId);
  expect(status).toBe('completed');
  expect(drupal.entities).toHaveLength(before + 1);
  expect(result.made.uuid).toBe(drupal.entities.at(-1)?.id);
});
