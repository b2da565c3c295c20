import { afterAll, beforeAll, expect, test } from 'vitest';
import { startWorkflow, type Caller } from '../testing.ts';

type Service = Awaited<ReturnType<typeof startWorkflow>>;
let service: Service;
let call: Caller;

beforeAll(async () => {
  service = await startWorkflow();
  call = await service.callAs('usr_1');
});
afterAll(() => service[Symbol.asyncDispose]());

const importPath = '/api/v1/workflows/import';
const n8n = (type: string) => ({
  name: 'From n8n',
  nodes: [
    { name: 'Hook', type: 'n8n-nodes-base.webhook', parameters: {}, position: [0, 0] },
    { name: 'Work', type: `n8n-nodes-base.${type}`, typeVersion: 3, parameters: {} },
  ],
  connections: { Hook: { main: [[{ node: 'Work', type: 'main', index: 0 }]] } },
});

const ownWith = (tests: string) =>
  `{"format":"ennead.workflow/v1","name":"n","flow":{"nodes":[{"id":"a","type":"Merge"}]},"tests":${tests}}`;

test('who may only read and run imports nothing', async () => {
  const reader = await service.callAs('usr_2', ['workflow:read', 'workflow:execute']);
  const { status } = await reader('POST', importPath, { body: { document: n8n('wait') } });
  expect(status).toBe(403);
});

test.each([
  ['{"a":', 'BAD_DOCUMENT'],
  ['a: &a [*a, *a]', 'BAD_DOCUMENT'],
  ['just words', 'BAD_DOCUMENT'],
  ['{"hello": 1}', 'UNKNOWN_FORMAT'],
  [`${'['.repeat(500)}1${']'.repeat(500)}`, 'BAD_DOCUMENT'],
  ['{"format":"ennead.workflow/v1","flow":{"nodes":[{"id":"a","type":"Nope"}]}}', 'INVALID_FLOW'],
  [ownWith('[{"name":"t"}]'), 'TESTS.0 MUST HAVE REQUIRED PROPERTIES EXPECT'],
  [ownWith('[{"name":"t","expect":[]},{"name":"t","expect":[]}]'), 'SAME NAME'],
])('what is no workflow is refused: %s', async (document, code) => {
  const { status, body } = await call('POST', importPath, { body: { document } });
  expect(status).toBe(400);
  expect(JSON.stringify(body).toUpperCase()).toContain(code);
});

test('a workflow with a step that is not supported is a draft, others are active', async () => {
  const draft = await call('POST', importPath, { body: { document: n8n('code') } });
  expect(draft).toMatchObject({
    status: 201,
    body: { status: 'draft', report: { format: 'n8n', fidelity: 0.5, unsupported: ['Work'] } },
  });
  const active = await call('POST', importPath, { body: { document: n8n('wait'), name: 'Mine' } });
  expect(active.body).toMatchObject({ name: 'Mine', status: 'active', report: { fidelity: 1 } });
});

test('a dry run stores nothing', async () => {
  const { body: before } = await call('GET', '/api/v1/workflows');
  const made = await call('POST', importPath, { body: { document: n8n('wait'), dryRun: true } });
  expect(made).toMatchObject({ status: 200, body: { flow: { nodes: [{ type: 'Wait' }] } } });
  expect((await call('GET', '/api/v1/workflows')).body.total).toBe(before.total);
});

test.each(['ennead', 'serverless-workflow'])(
  'our own export as %s is the same workflow',
  async (format) => {
    const flow = {
      nodes: [
        {
          id: 'a',
          type: 'Merge',
          position: { x: 1, y: 2 },
          data: { inputs: { x: '{{ inputs.x }}' } },
        },
        { id: 'b', type: 'Wait', position: { x: 3, y: 4 }, data: { duration: 5 }, timeout: 900 },
      ],
      edges: [{ source: 'a', target: 'b', condition: 'a.merged.x > 1' }],
      settings: { maxTokens: 9 },
    };
    const labels = { name: 'Same', description: 'As it was.', category: 'test', tags: ['one'] };
    const { body: made } = await call('POST', '/api/v1/workflows', { body: { ...labels, flow } });
    const tests = [
      { name: 'adds', inputs: { x: 2 }, pinned: { b: {} }, expect: [{ cel: 'a.merged.x == 2' }] },
    ];
    await call('PUT', `/api/v1/workflows/${made.id}/tests`, { body: { tests } });
    const { body: document } = await call('GET', `/api/v1/workflows/${made.id}/export`);
    expect(document).toMatchObject({ ...labels, flow, tests });
    const path = `/api/v1/workflows/${made.id}/export?format=${format}`;
    const { body: sent } = await call('GET', path);
    const { body: again } = await call('POST', importPath, { body: { document: sent } });
    expect(again).toMatchObject({ ...labels, status: 'active', report: { fidelity: 1 } });
    const { body: copy } = await call('GET', `/api/v1/workflows/${again.id}/export`);
    expect(copy).toEqual(document);
  },
);

test.each(['ennead', 'serverless-workflow'])(
  'an export as %s of a flow with secrets is a draft that says which are to be filled in',
  async (format) => {
    const nodes = [
      {
        id: 'call',
        type: 'HttpRequest',
        data: { url: 'https://a.example', headers: { 'X-Api-Key': 's3cret', accept: 'a/b' } },
      },
      { id: 'login', type: 'UserLogin', data: { username: 'ada', password: 's3cret' } },
    ];
    const body = { name: 'With secrets', flow: { nodes, edges: [] } };
    const { body: made } = await call('POST', '/api/v1/workflows', { body });
    const path = `/api/v1/workflows/${made.id}/export?format=${format}`;
    const { body: document } = await call('GET', path);
    const { status, body: again } = await call('POST', importPath, { body: { document } });
    expect([status, again.status]).toEqual([201, 'draft']);
    expect(again.report).toMatchObject({
      nodes: [
        {
          nodeId: 'call',
          status: 'adapted',
          note: expect.stringContaining('"X-Api-Key"') as string,
        },
        {
          nodeId: 'login',
          status: 'adapted',
          note: expect.stringContaining('"password"') as string,
        },
      ],
      unsupported: [],
    });
    expect(again.report.warnings).toHaveLength(2);
    const { body: tried } = await call('POST', importPath, { body: { document, dryRun: true } });
    expect(tried.flow.nodes).toMatchObject([
      { data: { headers: { 'X-Api-Key': '{{ inputs.call_x_api_key }}', accept: 'a/b' } } },
      { data: { password: '{{ inputs.login_password }}' } },
    ]);
  },
);

test('an export as Serverless Workflow is YAML that says what it cannot say', async () => {
  const path = '/api/v1/workflows/tpl_summarize_text/export?format=serverless-workflow';
  const { headers, body } = await call('GET', path);
  expect(headers.get('content-type')).toContain('yaml');
  expect(Number(headers.get('x-ennead-unsupported'))).toBeGreaterThan(0);
  expect(body).toMatch(/^# What this document cannot say:/);
  expect((await call('GET', '/api/v1/workflows/wfl_none/export')).status).toBe(404);
});
