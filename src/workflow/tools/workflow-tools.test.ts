import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { everything, startWorkflow } from '../testing.ts';
import { markedName } from './tool-names.ts';

type Service = Awaited<ReturnType<typeof startWorkflow>>;
let service: Service;
let client: Client;

async function connect(permissions: readonly string[]): Promise<Client> {
  const token = await service.tokenOf('usr_mcp', permissions);
  const opened = new Client({ name: 'test', version: '1' });
  await opened.connect(
    new StreamableHTTPClientTransport(new URL(`${service.url}/mcp`), {
      requestInit: { headers: { authorization: `Bearer ${token}` } },
    }),
  );
  return opened;
}

async function post(path: string, body: unknown): Promise<{ readonly id: string }> {
  const authorization = `Bearer ${await service.tokenOf('usr_maker')}`;
  const response = await fetch(`${service.url}${path}`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as { readonly id: string };
}

const create = (name: string, type: string, data: object, status = 'active') =>
  post('/api/v1/workflows', {
    name,
    status,
    flow: { nodes: [{ id: 'end', type, data }], edges: [] },
  });

async function executions(): Promise<readonly { executionId: string; status: string }[]> {
  const authorization = `Bearer ${await service.tokenOf('usr_mcp')}`;
  const response = await fetch(`${service.url}/api/v1/executions`, { headers: { authorization } });
  const { executions: list } = (await response.json()) as {
    readonly executions: readonly { executionId: string; status: string }[];
  };
  return list;
}

beforeAll(async () => {
  service = await startWorkflow();
  await create('Greet Somebody!', 'Merge', { inputs: { text: 'Hello {{ inputs.name }}' } });
  await create('Not ready', 'Merge', { inputs: {} }, 'draft');
  await create('Wait long', 'Wait', { duration: 3_600_000 });
  await create('Break', 'Placeholder', { source: 'Code', reason: 'scripts are never run' });
  client = await connect(everything);
});
afterAll(async () => {
  await client.close();
  await service[Symbol.asyncDispose]();
});

test('who may not execute workflows sees no tools', async () => {
  await expect(connect(['workflow:read'])).rejects.toThrow();
});

test('each active workflow is a tool that says what it takes; drafts are none', async () => {
  const { tools } = await client.listTools();
  const names = tools.map(({ name }) => name);
  expect(names).toContain('greet_somebody');
  expect(names).not.toContain('not_ready');
  expect(new Set(names).size).toBe(names.length);
  expect(tools.find(({ name }) => name === 'greet_somebody')).toMatchObject({
    title: 'Greet Somebody!',
    inputSchema: { properties: { name: { description: 'inputs.name' } } },
    annotations: { readOnlyHint: true },
  });
});

test('a call is an execution: it reports its nodes and answers the result', async () => {
  const messages: unknown[] = [];
  const answer = await client.callTool(
    { name: 'greet_somebody', arguments: { name: 'Ada' } },
    { onprogress: ({ message }) => messages.push(message) },
  );
  expect(answer.structuredContent).toEqual({ end: { merged: { text: 'Hello Ada' } } });
  expect(answer.isError ?? false).toBe(false);
  expect(messages).toEqual(['end completed']);
});

test('an execution that fails is an answer that says where and why', async () => {
  const answer = await client.callTool({ name: 'break', arguments: {} });
  expect(answer.isError).toBe(true);
  expect(JSON.stringify(answer.content)).toMatch(/NOT_SUPPORTED/);
});

test('a tool that there is not is a protocol error', async () => {
  await expect(client.callTool({ name: 'not_ready' })).rejects.toMatchObject({ code: -32_602 });
});

test('a caller who gives up cancels the execution', async () => {
  const giveUp = new AbortController();
  let hasBegun = () => {};
  const begun = new Promise<void>((resolve) => (hasBegun = resolve));
  const call = client.callTool(
    { name: 'wait_long', arguments: {} },
    { signal: giveUp.signal, onprogress: () => hasBegun() },
  );
  await begun;
  giveUp.abort();
  await expect(call).rejects.toThrow();
  await expect.poll(async () => (await executions())[0]?.status).toBe('cancelled');
});

test('of workflows of one name each has its own tool, and the oldest keeps the plain name', async () => {
  const { id } = await create('Greet somebody', 'Merge', { inputs: { text: 'second' } });
  const name = markedName({ id, name: 'Greet somebody' });
  const { tools } = await client.listTools();
  expect(tools.map((tool) => tool.name)).toEqual(expect.arrayContaining(['greet_somebody', name]));
  const answer = await client.callTool({ name, arguments: {} });
  expect(answer.structuredContent).toEqual({ end: { merged: { text: 'second' } } });
});

test('of many workflows all are listed, and none takes the name of another by being younger or renamed', async () => {
  const own = await create('Pay bill', 'Merge', { inputs: { text: 'own' } });
  const older = await create('Something else', 'Merge', { inputs: { text: 'renamed' } });
  const { database } = service;
  // Written as the service would write them, for there are many.
  await database.query(
    `insert into workflow.workflows (id, name, description, category, tags, status, owner_id,
       version, latest, secret, created_at, updated_at, named_at)
     select 'wfl_zz' || n, 'Filler ' || n, '', 'general', '{}', 'active', 'usr_other', 1, 1, '',
       now(), now(), now() from generate_series(1, 210) n`,
  );
  await database.query(
    `insert into workflow.versions (workflow_id, version, flow, components, complexity, typical_ms,
       created_by, created_at, published_at)
     select 'wfl_zz' || n, 1, v.flow, 1, 'simple', 1, 'usr_other', now(), now()
     from workflow.versions v, generate_series(1, 210) n where v.workflow_id = $1`,
    [own.id],
  );
  const authorization = `Bearer ${await service.tokenOf('usr_maker')}`;
  await fetch(`${service.url}/api/v1/workflows/${older.id}`, {
    method: 'PUT',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Pay bill' }),
  });
  await create('Pay bill', 'Merge', { inputs: { text: 'younger' } });
  const first = await client.listTools({ cursor: '' });
  expect(first.nextCursor).toBeDefined();
  const { tools } = await client.listTools();
  const names = new Set(tools.map(({ name }) => name));
  expect(names.size).toBeGreaterThan(210);
  for (const name of ['pay_bill', 'greet_somebody', 'filler_1', 'filler_210']) {
    expect(names).toContain(name);
  }
  const answer = await client.callTool({ name: 'pay_bill', arguments: {} });
  expect(answer.structuredContent).toEqual({ end: { merged: { text: 'own' } } });
});
