import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Lifetime } from '../kit/lifecycle.ts';
import { TestClient } from '../kit/sockets/testing.ts';
import { silentLog } from '../kit/testing.ts';
import { caller, startWorkflow, type Caller } from './testing.ts';

const lifetime = new Lifetime(silentLog);
const root = '/api/v1/workflows';
let running: Awaited<ReturnType<typeof startWorkflow>>;
let call: Caller;

beforeAll(async () => {
  running = lifetime.own('the service', await startWorkflow());
  call = await running.callAs('usr_ada');
});

afterAll(() => lifetime[Symbol.asyncDispose]());

const echo = {
  nodes: [{ id: 'echo', type: 'Merge', data: { inputs: { said: '{{ inputs.word }}' } } }],
  edges: [],
};

async function create(name: string, flow: unknown = echo): Promise<string> {
  const { status, body } = await call('POST', root, { body: { name, flow } });
  expect({ status, body }).toMatchObject({ status: 201 });
  return body.id;
}

interface Received {
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
}

/** A receiver of callbacks. */
async function startReceiver() {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    received.push({ headers: request.headers, text: Buffer.concat(chunks).toString() });
    response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  lifetime.defer('a receiver', () => void server.close());
  return { received, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` };
}

test('a callback is signed with the secret that the owner of the workflow can read', async () => {
  const receiver = await startReceiver();
  const id = await create('Callback');
  const options = { callbacks: { onComplete: receiver.url } };
  const started = await call('POST', `${root}/${id}/execute`, {
    body: { inputs: { word: 'x' }, options },
  });
  await expect.poll(() => receiver.received.length).toBe(1);
  const [{ headers, text } = { headers: {}, text: '' }] = receiver.received;
  const { secret } = (await call('GET', `${root}/${id}/secret`)).body;
  const [, at = '', digest] =
    /^t=(\d+),v1=([0-9a-f]+)$/.exec(String(headers['x-ennead-signature'])) ?? [];
  expect(digest).toBe(createHmac('sha256', secret).update(`${at}.${text}`).digest('hex'));
  const { executionId } = started.body;
  expect(JSON.parse(text)).toMatchObject({ executionId, status: 'completed' });
});

test('a batch runs a workflow for every input, and tells how it comes on', async () => {
  const id = await create('Batch');
  const inputs = ['a', 'b', 'c'].map((word) => ({ word }));
  const { status, body } = await call('POST', `${root}/${id}/batch`, { body: { inputs } });
  expect({ status, body }).toMatchObject({ status: 202, body: { totalItems: 3 } });
  const token = await running.tokenOf('usr_ada');
  const path = `/api/v1/batches/${body.batchId}`;
  const stream = new TestClient(`${running.url}${path}/stream?access_token=${token}`);
  expect(await stream.closed()).toMatchObject({ code: 1000 });
  const end = await call('GET', path);
  expect(end.body).toMatchObject({ status: 'completed', progress: { completed: 3, failed: 0 } });
});

test('whoever may only run follows their batches, whose items tell what waits and what was mended', async () => {
  const ask = { id: 'ask', type: 'Approval', data: { message: 'Go on?' } };
  const id = await create('Asks', { nodes: [ask], edges: [] });
  const runner = await running.callAs('usr_runner', ['workflow:execute']);
  const { status, body } = await runner('POST', `${root}/${id}/batch`, { body: { inputs: [{}] } });
  expect(status).toBe(202);
  const path = `/api/v1/batches/${body.batchId}`;
  const item = async () => (await runner('GET', `${path}/items`)).body.items?.[0];
  await expect.poll(item).toMatchObject({ status: 'running', executionId: expect.any(String) });
  const { executionId } = await item();
  const execution = `/api/v1/executions/${executionId}`;
  await runner('POST', `${execution}/cancel`);
  const end = async () => (await runner('GET', path)).body;
  await expect.poll(end).toMatchObject({ status: 'completed', progress: { completed: 0 } });
  expect((await item()).status).toBe('cancelled');
  await runner('POST', `${execution}/resume`);
  const decide = () => runner('POST', `${execution}/approvals/ask`, { body: { approved: true } });
  await expect.poll(async () => (await decide()).status).toBe(200);
  await expect.poll(item).toMatchObject({ status: 'completed', executionId });
  expect((await end()).progress).toMatchObject({ completed: 1, failed: 0 });
  expect((await runner('GET', '/api/v1/batches')).body.total).toBe(1);
  expect((await runner('GET', `${execution}/callbacks`)).status).toBe(200);
});

test('a webhook starts a workflow, until the workflow is archived', async () => {
  const id = await create('Hook');
  const made = await call('POST', `${root}/${id}/triggers`, {
    body: { type: 'webhook', inputs: { word: '{{ body.word }}' } },
  });
  expect({ status: made.status, body: made.body }).toMatchObject({ status: 201 });
  const { hookUrl, secret } = made.body;
  expect(hookUrl).toMatch(/^http:\/\/workflow\.test\/api\/v1\/hooks\/trg_/);
  const deliver = (given: string) =>
    caller(running.url)('POST', `${new URL(hookUrl).pathname}?wait=true`, {
      body: { word: 'hooked' },
      headers: { 'x-webhook-secret': given },
    });
  expect((await deliver('wrong')).status).toBe(401);
  const { status, body } = await deliver(secret);
  expect({ status, body }).toMatchObject({
    status: 200,
    body: { status: 'completed', result: { echo: { merged: { said: 'hooked' } } } },
  });
  const bob = await running.callAs('usr_bob');
  expect((await bob('GET', `${root}/${id}/triggers`)).status).toBe(200);
  expect((await bob('DELETE', `${root}/${id}/triggers/${made.body.id}`)).status).toBe(403);
  await call('DELETE', `${root}/${id}`);
  expect((await deliver(secret)).status).toBe(409);
});

test('an open hook is shown to its owner and administrators only, because its address is all it takes', async () => {
  const id = await create('Open hook');
  const triggers = `${root}/${id}/triggers`;
  const open = { type: 'webhook', verification: 'none' };
  const made = await call('POST', triggers, { body: open });
  const locked = await call('POST', triggers, { body: { type: 'webhook' } });
  const reader = await running.callAs('usr_reader', ['workflow:read']);
  const { body: listed } = await reader('GET', triggers);
  expect(listed).toMatchObject({ total: 1, triggers: [{ id: locked.body.id }] });
  const path = `${triggers}/${made.body.id}`;
  expect((await reader('GET', path)).status).toBe(404);
  expect((await reader('GET', `${path}/firings`)).status).toBe(404);
  const admin = await running.callAs('usr_root', ['workflow:admin']);
  for (const one of [call, admin]) {
    expect((await one('GET', triggers)).body.total).toBe(2);
    expect((await one('GET', path)).body.hookUrl).toBe(made.body.hookUrl);
  }
});

test('an active workflow is a tool of the MCP server', async () => {
  await create('Say it again');
  const client = new Client({ name: 'test', version: '1' });
  const authorization = `Bearer ${await running.tokenOf('usr_ada')}`;
  const transport = new StreamableHTTPClientTransport(new URL(`${running.url}/mcp`), {
    requestInit: { headers: { authorization } },
  });
  await client.connect(transport);
  const { tools } = await client.listTools();
  const tool = tools.find(({ title }) => title === 'Say it again');
  expect(tool?.inputSchema.properties).toHaveProperty('word');
  const answer = await client.callTool({ name: tool?.name ?? '', arguments: { word: 'tool' } });
  expect(answer.structuredContent).toEqual({ echo: { merged: { said: 'tool' } } });
  await client.close();
});

test('what was exported is the same workflow once it is imported', async () => {
  const id = await create('Travels');
  const exported = await call('GET', `${root}/${id}/export?format=ennead`);
  expect(exported.status).toBe(200);
  const { status, body } = await call('POST', `${root}/import`, {
    body: { document: exported.body },
  });
  expect({ status, body }).toMatchObject({
    status: 201,
    body: { name: 'Travels', status: 'active', report: { fidelity: 1 } },
  });
  const [before, after] = await Promise.all(
    [id, body.id].map(async (one) => (await call('GET', `${root}/${one}`)).body.flow),
  );
  expect(after).toEqual(before);
});

test('a workflow within a workflow gives its result, whoever of them waits', async () => {
  const inner = await create('Inner', {
    nodes: [
      { id: 'wait', type: 'Wait', data: { duration: 50 } },
      { id: 'end', type: 'Merge', data: { inputs: { word: '{{ inputs.word }}' } } },
    ],
    edges: [{ source: 'wait', target: 'end' }],
  });
  const outer = await create('Outer', {
    nodes: [
      {
        id: 'sub',
        type: 'SubWorkflow',
        data: { workflowId: inner, inputs: { word: '{{ inputs.word }}' } },
      },
      { id: 'after', type: 'Merge', data: { inputs: { got: '{{ sub.result.end.merged.word }}' } } },
    ],
    edges: [{ source: 'sub', target: 'after' }],
  });
  const { body } = await call('POST', `${root}/${outer}/execute`, {
    body: { inputs: { word: 'deep' }, options: { async: false } },
  });
  expect(body.result).toEqual({ after: { merged: { got: 'deep' } } });
});

test('every component of the interface is there, with its schemas', async () => {
  const { body } = await call('GET', '/api/v1/components');
  const names = body.components.map(({ name }: { name: string }) => name);
  const wanted =
    'LLMNode VectorSearch Embeddings ImageGen EntityCreate EntityLoad EntityUpdate UserLogin MCPToolCall MCPServerQuery FileSystemRead IdpAPI Condition Loop Parallel Merge';
  expect(names).toEqual(expect.arrayContaining(wanted.split(' ')));
  for (const { inputs, outputs } of body.components) {
    expect([typeof inputs, typeof outputs]).toEqual(['object', 'object']);
  }
});

test('a service that is away fails its node, as something to try again', async () => {
  const flow = { nodes: [{ id: 'ask', type: 'LLMNode', data: { prompt: 'Hello' } }], edges: [] };
  const id = await create('Away', flow);
  const { body } = await call('POST', `${root}/${id}/execute`, {
    body: { options: { async: false } },
  });
  expect(body).toMatchObject({
    status: 'failed',
    retryable: true,
    error: { nodeId: 'ask', attempt: 1 },
  });
});

test('an address of the network’s own is called by no flow', async () => {
  const url = 'http://169.254.169.254/latest/meta-data';
  const flow = { nodes: [{ id: 'get', type: 'HttpRequest', data: { url } }], edges: [] };
  const id = await create('Inside', flow);
  const { body } = await call('POST', `${root}/${id}/execute`, {
    body: { options: { async: false } },
  });
  expect(body).toMatchObject({ status: 'failed', retryable: false });
});
