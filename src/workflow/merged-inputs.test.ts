import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { SmallDrupal, startSystem } from './components/cms/testing.ts';
import { caller, startWorkflow, type Caller } from './testing.ts';

type System = Awaited<ReturnType<typeof startSystem>>;
let cms: System;
let own: System;
let other: System;
let running: Awaited<ReturnType<typeof startWorkflow>>;
let author: Caller;
/** Holds nothing but the right to execute. */
let runner: Caller;

beforeAll(async () => {
  const drupal = new SmallDrupal('Bearer operator');
  cms = await startSystem((asked) => drupal.answer(asked));
  own = await startSystem(() => ({ json: {} }));
  other = await startSystem(() => ({ json: {} }));
  running = await startWorkflow({ environment: { CMS_URL: cms.url } });
  author = await running.callAs('usr_author');
  runner = await running.callAs('usr_runner', ['workflow:execute']);
});

afterAll(async () => {
  await running[Symbol.asyncDispose]();
  await Promise.all([cms, own, other].map((system) => system[Symbol.asyncDispose]()));
});

beforeEach(() => {
  for (const { asked } of [own, other]) asked.length = 0;
});

const root = '/api/v1/workflows';
const merge = (id: string, inputs: unknown) => ({ id, type: 'Merge', data: { inputs } });
const login = { id: 'login', type: 'UserLogin', data: { username: 'eva', password: 'correct' } };
const request = (id = 'ask', data: object = {}) => ({
  id,
  type: 'HttpRequest',
  data: { url: `${own.url}/own`, headers: { authorization: 'Bearer kept' }, ...data },
});
/** Nodes one behind the other. */
const chain = (...nodes: readonly Readonly<Record<string, unknown>>[]) => ({
  nodes,
  edges: nodes.slice(1).map((node, at) => ({ source: nodes[at]?.['id'], target: node['id'] })),
});

async function create(flow: unknown, name = 'Test'): Promise<string> {
  const made = await author('POST', root, { body: { name, flow } });
  expect(made).toMatchObject({ status: 201 });
  return made.body.id;
}

async function execute(id: string, inputs: unknown, by = runner) {
  const body = { inputs, options: { async: false } };
  return (await by('POST', `${root}/${id}/execute`, { body })).body;
}

/** What a webhook of this workflow answers to a sender that nobody knows. */
async function deliver(
  id: string,
  settings: object,
  { body = {}, query = '' }: { readonly body?: unknown; readonly query?: string } = {},
) {
  const hook = { type: 'webhook', verification: 'none', ...settings };
  const made = await author('POST', `${root}/${id}/triggers`, { body: hook });
  expect(made).toMatchObject({ status: 201 });
  const path = `/api/v1/hooks/${made.body.id}?wait=true${query}`;
  return caller(running.url)('POST', path, { body });
}

describe('inputs of who may only execute', () => {
  test('send the secret headers of a node to no other origin', async () => {
    const id = await create(chain(request()));
    const elsewhere = await execute(id, { ask: { url: `${other.url}/x` } });
    expect(elsewhere).toMatchObject({ status: 'failed', error: { code: 'SECRET_ELSEWHERE' } });
    expect(other.asked).toEqual([]);
    const within = { ask: { url: '{{ inputs.at }}', method: 'POST', body: { a: 1 } } };
    expect(await execute(id, { ...within, at: `${own.url}/b` })).toMatchObject({
      status: 'completed',
    });
    expect(own.asked).toMatchObject([
      { path: '/b', body: { a: 1 }, headers: { authorization: 'Bearer kept' } },
    ]);
    const headers = { 'x-mine': '1' };
    await execute(id, { ask: { url: `${other.url}/x`, headers } });
    expect(other.asked[0]?.headers['authorization']).toBeUndefined();
    expect(other.asked[0]?.headers).toMatchObject(headers);
  });

  test('read no secret of an output, by whatever setting', async () => {
    const transform = {
      id: 'look',
      type: 'Transform',
      data: { input: '{{ login }}', expression: '{"name": user.name}' },
    };
    const gather = { id: 'gather', type: 'Transform', data: { expression: '1' } };
    const decide = { id: 'decide', type: 'Condition', data: { condition: 'false' } };
    const each = { id: 'each', type: 'Loop', data: { items: [1] } };
    const say = merge('say', { item: '{{ loop.item }}' });
    const flow = chain(login, transform, gather, decide, merge('end', {}), each, say);
    const edges = [
      ...flow.edges,
      { source: 'login', target: 'gather' },
      { source: 'say', target: 'each' },
    ];
    const id = await create({ ...flow, edges });
    const done = await execute(id, {
      look: { expression: '$' },
      gather: { expression: '$' },
      decide: { condition: 'login.token == "csrf-1"' },
      end: { inputs: { a: '{{ login.token }}', b: '{{ login | json }}' } },
      each: { items: ['{{ login.token }}'] },
    });
    expect(done).toMatchObject({ status: 'completed' });
    expect(JSON.stringify(done)).not.toContain('csrf-1');
    expect(JSON.stringify(done)).toContain('***');
    const { nodes } = done as { readonly nodes: { nodeId: string; output: unknown }[] };
    expect(nodes.find(({ nodeId }) => nodeId === 'decide')?.output).toEqual({ result: false });
  });

  test('leave the secret headers of a node their secret outputs', async () => {
    const headers = { authorization: 'Bearer {{ login.token }}', 'x-other': '{{ login.token }}' };
    const id = await create(chain(login, request('ask', { headers, method: 'POST' })));
    expect(await execute(id, { ask: { body: { a: 1 } } })).toMatchObject({ status: 'completed' });
    expect(own.asked[0]).toMatchObject({
      body: { a: 1 },
      headers: { authorization: 'Bearer csrf-1', 'x-other': '***' },
    });
  });

  test('do not say who decides, or which workflow runs', async () => {
    const approval = {
      id: 'ask',
      type: 'Approval',
      data: { message: 'Pay?', approvers: ['usr_boss'] },
    };
    const id = await create(chain(approval, merge('paid', {})));
    const refused = {
      error: {
        code: 'SETTING_NOT_OPEN',
        details: { param: 'inputs.ask.approvers' },
      },
    };
    for (const approvers of [['usr_runner'], []]) {
      expect(await execute(id, { ask: { approvers } })).toMatchObject(refused);
    }
    const body = { inputs: { ask: { message: 'Now?' } } };
    const started = await runner('POST', `${root}/${id}/execute`, { body });
    const path = `/api/v1/executions/${started.body.executionId}`;
    const statusOf = async () => (await runner('GET', path)).body.nodes[0]?.status;
    await expect.poll(statusOf).toBe('waiting');
    const again = { fromNode: 'ask', inputs: { ask: { approvers: [] } } };
    expect(await runner('POST', `${path}/rerun`, { body: again })).toMatchObject({
      status: 400,
      body: refused,
    });
    const decided = { body: { approved: true } };
    expect(await runner('POST', `${path}/approvals/ask`, decided)).toMatchObject({ status: 403 });
    const outer = await create(
      chain({ ...approval, type: 'SubWorkflow', data: { workflowId: id } }),
    );
    expect(await execute(outer, { ask: { workflowId: 'wfl_x', version: 2 } })).toMatchObject({
      error: { code: 'SETTING_NOT_OPEN' },
    });
  });

  test('are rendered where whoever executes wrote them', async () => {
    const id = await create(chain(merge('a', { v: 1 }), merge('b', {})));
    const done = await execute(id, { b: { inputs: { v: '{{ a.merged.v }}' } } });
    expect(done).toMatchObject({ result: { b: { merged: { v: 1 } } } });
  });
});

describe('what an unknown sender delivers', () => {
  const evil = 'A {{ a.merged.k }}{% if %}';

  test('is no template where the trigger maps it to a node, now and in a re-run', async () => {
    const id = await create(chain(merge('a', { k: 'inner' }), merge('b', {})));
    const inputs = { b: { inputs: { said: 'You: {{ body.text }}' } } };
    const answer = await deliver(id, { inputs }, { body: { text: evil } });
    const result = { b: { merged: { said: `You: ${evil}` } } };
    expect(answer.body).toMatchObject({ status: 'completed', result });
    const path = `/api/v1/executions/${answer.body.executionId}/rerun`;
    const again = await author('POST', path, { body: { fromNode: 'b', inputs: { more: 1 } } });
    const rerun = await author('GET', `/api/v1/executions/${again.body.executionId}?wait=10`);
    expect(rerun.body).toMatchObject({ status: 'completed', result });
  });

  test('reaches no node by its name, and is there to be read', async () => {
    const id = await create(
      chain({ id: 'query', type: 'Condition', data: { condition: 'false' } }, request('body'), {
        ...merge('headers', { read: '{{ inputs.body.word }}' }),
      }),
    );
    const body = { url: `${other.url}/x`, word: 'heard' };
    const answer = await deliver(id, {}, { body, query: '&condition=true' });
    expect(answer.body).toMatchObject({
      status: 'completed',
      result: { headers: { merged: { read: 'heard' } } },
    });
    expect(other.asked).toEqual([]);
    expect(own.asked).toHaveLength(1);
    const path = `/api/v1/executions/${answer.body.executionId}`;
    const { nodes } = (await author('GET', path)).body;
    expect(nodes[0]).toMatchObject({ nodeId: 'query', output: { result: false } });
  });

  test('is never evaluated as a condition', async () => {
    const decide = { id: 'decide', type: 'Condition', data: { condition: 'false' } };
    const id = await create(chain(decide));
    const settings = { inputs: { decide: { condition: '{{ body.is }}' } } };
    const text = await deliver(id, settings, { body: { is: '1 == 1' } });
    expect(text.body).toMatchObject({ status: 'failed', error: { code: 'EXPRESSION_FAILED' } });
    const truth = await deliver(id, settings, { body: { is: true } });
    expect(truth.body).toMatchObject({ result: { decide: { result: true } } });
  });
});

test('what a workflow hands to one within it is no template there', async () => {
  const inner = await create(chain(merge('a', { k: 'inner' }), merge('b', {})));
  const sub = {
    id: 'sub',
    type: 'SubWorkflow',
    data: { workflowId: inner, inputs: { b: { inputs: { v: '{{ said.merged.v }}' } } } },
  };
  const said = merge('said', { v: '{{ inputs.v }}' });
  const got = merge('got', { v: '{{ sub.result.b.merged.v }}', status: '{{ sub.status }}' });
  const v = 'A {{ a.merged.k }} B';
  const done = await execute(await create(chain(said, sub, got)), { v });
  expect(done).toMatchObject({ result: { got: { merged: { v, status: 'completed' } } } });
  const described = await author('GET', '/api/v1/components/SubWorkflow');
  expect(Object.keys(described.body.outputs)).toEqual(['executionId', 'status', 'result']);
});

test('the arguments of a tool are what the workflow reads, and reach no node', async () => {
  await create(chain(request('ask', { query: { q: '{{ inputs.q }}' } })), 'Look it up');
  const client = new Client({ name: 'test', version: '1' });
  const authorization = `Bearer ${await running.tokenOf('usr_runner', ['workflow:execute'])}`;
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${running.url}/mcp`), {
      requestInit: { headers: { authorization } },
    }),
  );
  const given = { q: 'x', ask: { url: `${other.url}/x`, headers: {} } };
  await client.callTool({ name: 'look_it_up', arguments: given });
  await client.close();
  expect(other.asked).toEqual([]);
  expect(own.asked).toMatchObject([{ headers: { authorization: 'Bearer kept' } }]);
  expect(own.asked[0]?.query.get('q')).toBe('x');
});
