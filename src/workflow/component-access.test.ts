import { afterAll, beforeAll, expect, test } from 'vitest';
import { markedName } from './tools/tool-names.ts';
import { everything, startWorkflow, type Caller } from './testing.ts';

let running: Awaited<ReturnType<typeof startWorkflow>>;
let plain: Caller;
let trusted: Caller;

beforeAll(async () => {
  running = await startWorkflow();
  plain = await running.callAs('usr_ada');
  trusted = await running.callAs('usr_ada', [...everything, 'registry:call']);
});

afterAll(() => running[Symbol.asyncDispose]());

const root = '/api/v1/workflows';
const toolFlow = {
  nodes: [{ id: 'tool', type: 'MCPToolCall', data: { tool: 'files__read' }, onError: 'continue' }],
  edges: [],
};
const parentOf = (workflowId: string) => ({
  nodes: [{ id: 'child', type: 'SubWorkflow', data: { workflowId } }],
  edges: [],
});
const refusal = {
  status: 403,
  body: {
    error: { code: 'INSUFFICIENT_PERMISSIONS', details: { required: 'registry:call' } },
  },
};

async function create(flow: unknown): Promise<string> {
  const made = await plain('POST', root, { body: { name: 'Test', flow } });
  expect(made).toMatchObject({ status: 201 });
  return made.body.id;
}

const now = { options: { async: false } };

test('who may not call tools starts no flow that does, by whatever door', async () => {
  const id = await create(toolFlow);
  const schedule = { type: 'schedule', cron: '@daily' };
  expect(await plain('POST', `${root}/${id}/execute`, { body: {} })).toMatchObject(refusal);
  const batch = { body: { inputs: [{}] } };
  expect(await plain('POST', `${root}/${id}/batch`, batch)).toMatchObject(refusal);
  const triggers = `${root}/${id}/triggers`;
  expect(await plain('POST', triggers, { body: schedule })).toMatchObject(refusal);
  const made = await trusted('POST', triggers, { body: schedule });
  expect(made).toMatchObject({ status: 201 });
  const trigger = `${triggers}/${made.body.id}`;
  const change = { body: { cron: '@hourly' } };
  expect(await plain('PATCH', trigger, change)).toMatchObject(refusal);
  expect(await plain('PATCH', trigger, { body: { enabled: false } })).toMatchObject({
    status: 200,
  });
  const done = await trusted('POST', `${root}/${id}/execute`, { body: now });
  expect(done).toMatchObject({ status: 200, body: { status: 'completed' } });
  const again = { body: { fromNode: 'tool' } };
  const rerun = `/api/v1/executions/${done.body.executionId}/rerun`;
  expect(await plain('POST', rerun, again)).toMatchObject(refusal);
  expect((await trusted('POST', rerun, again)).status).toBe(202);
});

test('what starts by itself refuses a flow that acts with the token of its caller', async () => {
  const data = { action: 'user.current' };
  const id = await create({ nodes: [{ id: 'me', type: 'IdpAPI', data }], edges: [] });
  const refused = { status: 400, body: { error: { code: 'CALLER_TOKEN_MISSING' } } };
  const batch = { body: { inputs: [{}] } };
  expect(await plain('POST', `${root}/${id}/batch`, batch)).toMatchObject(refused);
  const schedule = { body: { type: 'schedule', cron: '@daily' } };
  expect(await plain('POST', `${root}/${id}/triggers`, schedule)).toMatchObject(refused);
});

test('what there is to run is shown to who may run it, and to nobody without any permission', async () => {
  const runner = await running.callAs('usr_ada', ['workflow:execute']);
  const stranger = await running.callAs('usr_ada', ['mesh:communicate']);
  for (const path of [`${root}/catalog`, `${root}/templates`]) {
    expect((await runner('GET', path)).status).toBe(200);
    expect((await stranger('GET', path)).status).toBe(403);
  }
  expect((await runner('GET', root)).status).toBe(403);
});

test('a workflow as a tool needs what its components ask for', async () => {
  const id = await create(toolFlow);
  const mcp = async (call: Caller, method: string, params: object) => {
    const headers = { accept: 'application/json, text/event-stream' };
    const body = { jsonrpc: '2.0', id: 1, method, params };
    return call('POST', '/mcp', { body, headers });
  };
  const name = markedName({ id, name: 'Test' });
  const { total } = (await plain('GET', `${root}/${id}/executions`)).body;
  const answer = JSON.stringify((await mcp(plain, 'tools/call', { name, arguments: {} })).body);
  expect(answer).toContain('registry:call');
  expect((await plain('GET', `${root}/${id}/executions`)).body.total).toBe(total);
});

test('a workflow within another runs with what the outer one was started with', async () => {
  const id = await create(parentOf(await create(toolFlow)));
  const refused = await plain('POST', `${root}/${id}/execute`, { body: now });
  expect(refused.body).toMatchObject({
    status: 'failed',
    error: { nodeId: 'child', code: 'INSUFFICIENT_PERMISSIONS' },
  });
  const done = await trusted('POST', `${root}/${id}/execute`, { body: now });
  expect(done.body).toMatchObject({ status: 'completed' });
});

test('a flow that grew behind a trigger does not run with more than its owner held', async () => {
  const id = await create({ nodes: [{ id: 'a', type: 'Merge', data: {} }], edges: [] });
  const hook = { type: 'webhook', verification: 'none' };
  const made = await plain('POST', `${root}/${id}/triggers`, { body: hook });
  expect(made).toMatchObject({ status: 201 });
  const fire = () => fetch(`${running.url}/api/v1/hooks/${made.body.id}`, { method: 'POST' });
  expect((await fire()).status).toBe(202);
  expect((await plain('PUT', `${root}/${id}`, { body: { flow: toolFlow } })).status).toBe(200);
  expect((await fire()).status).toBe(403);
});

test('components say what they need', async () => {
  const { body } = await plain('GET', '/api/v1/components/MCPToolCall');
  expect(body.permission).toEqual(['registry:call', 'agent:execute']);
  expect((await plain('GET', '/api/v1/components/Merge')).body.permission).toBeUndefined();
});
