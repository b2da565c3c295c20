import { ClientFactory, ClientFactoryOptions, JsonRpcTransportFactory } from '@a2a-js/sdk/client';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import {
  agentOf,
  openTasksGround,
  reply,
  startAgent,
  startTasks,
  type AgentRequest,
  type Answer,
  type TasksGround,
} from '../tasks/testing.ts';

let ground: TasksGround;
let mesh: Awaited<ReturnType<typeof startTasks>>;

beforeAll(async () => {
  ground = await openTasksGround();
  mesh = await startTasks(ground);
});
afterAll(async () => {
  await mesh?.[Symbol.asyncDispose]();
  await ground?.[Symbol.asyncDispose]();
});
beforeEach(() => ground.directory.agents.clear());

const rpc = async (method: string, params: unknown, version?: string): Promise<Answer> => {
  const headers = version === undefined ? {} : { 'a2a-version': version };
  const body = { jsonrpc: '2.0', id: 7, method, params };
  return (await mesh.call('POST', '/a2a', { body, headers })).body;
};
const sent = (over: Record<string, unknown> = {}) => ({
  message: { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'hi' }] },
  ...over,
});
const execute = (targetAgent: string, timeout = 5_000) =>
  mesh.execute({ targetAgent, task: { type: 'chat', input: { prompt: 'hi' }, timeout } });

test('what is no A2A is answered by JSON-RPC errors', async () => {
  expect((await rpc('Dance', {})).error.code).toBe(-32601);
  expect((await rpc('SendStreamingMessage', sent())).error.code).toBe(-32004);
  for (const method of ['ListTaskPushNotificationConfigs', 'tasks/pushNotificationConfig/set']) {
    expect((await rpc(method, {})).error.code).toBe(-32003);
  }
  expect((await rpc('GetExtendedAgentCard', {})).error.code).toBe(-32004);
  expect((await rpc('SendMessage', {})).error.code).toBe(-32602);
  const urgent = sent({ metadata: { mesh: { priority: 'urgent' } } });
  expect((await rpc('SendMessage', urgent)).error.code).toBe(-32602);
  expect((await rpc('SendMessage', sent(), '9.9')).error.code).toBe(-32009);
  expect((await rpc('GetTask', { id: 'tsk_none' })).error.code).toBe(-32001);
  expect((await rpc('SendMessage', sent())).error).toMatchObject({
    code: -32602,
    data: [{ reason: 'AGENT_NOT_FOUND' }],
  });
});

test('what is no request is answered by JSON-RPC too, and a notification not at all', async () => {
  const authorization = `Bearer ${await mesh.tokenOf('usr_asker')}`;
  const send = (body: string, headers: Record<string, string> = { authorization }) =>
    fetch(`${mesh.url}/a2a`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
    });
  const batch = JSON.stringify([{ jsonrpc: '2.0', id: 1, method: 'GetTask' }]);
  for (const [body, status, code] of [
    ['{', 400, -32700],
    ['[]', 400, -32600],
    [batch, 400, -32600],
    ['{}', 200, -32600],
  ] as const) {
    const answer = await send(body);
    expect([answer.status, await answer.json()]).toMatchObject([
      status,
      { jsonrpc: '2.0', id: null, error: { code } },
    ]);
  }
  const unknown = await send('{}', {});
  expect([unknown.status, await unknown.json()]).toMatchObject([
    401,
    { jsonrpc: '2.0', id: null, error: { data: { code: 'INVALID_TOKEN' } } },
  ]);
  for (const method of ['GetTask', 'Dance']) {
    const noted = await send(JSON.stringify({ jsonrpc: '2.0', method, params: { id: 'x' } }));
    expect([noted.status, await noted.text()]).toEqual([202, '']);
  }
});

test('a task’s state has the time at which it came to be', async () => {
  await using agent = await startAgent(({ path }, response) =>
    reply(response, path.startsWith('/bad') ? 500 : 200, { n: 1 }),
  );
  ground.directory.put(
    agentOf('good', { endpoints: { rest: agent.url } }),
    agentOf('bad', { endpoints: { rest: `${agent.url}/bad` } }),
  );
  for (const agentId of ['good', 'bad']) {
    const { task } = (await rpc('SendMessage', sent({ metadata: { mesh: { agentId } } }))).result;
    const { body } = await mesh.call('GET', `/api/v1/tasks/${task.id}`);
    expect(task.status.timestamp).toBe(body.finishedAt);
    const read = (await rpc('GetTask', { id: task.id })).result;
    expect(read.status).toEqual(task.status);
  }
});

test('a message that is sent again is the same task, for its sender alone', async () => {
  let finish = (): void => {};
  await using agent = await startAgent(async (_, response) => {
    await new Promise<void>((resolve) => {
      finish = resolve;
    });
    reply(response, 200, { text: 'done' });
  });
  ground.directory.put(agentOf('slow', { endpoints: { rest: agent.url } }));
  const metadata = { mesh: { agentId: 'slow' } };
  const [first, meanwhile] = [
    rpc('SendMessage', sent({ metadata })),
    rpc('SendMessage', sent({ metadata })),
  ];
  await vi.waitFor(() => expect(agent.requests).toHaveLength(1));
  finish();
  const { task } = (await first).result;
  expect(task.status.state).toBe('TASK_STATE_COMPLETED');
  expect((await meanwhile).result.task).toEqual(task);
  expect((await rpc('SendMessage', sent({ metadata }))).result.task).toEqual(task);
  const later = { ...sent({ metadata }), configuration: { returnImmediately: true } };
  expect((await rpc('SendMessage', later)).result.task).toEqual(task);
  const message = { role: 'user', messageId: 'm1', parts: [{ kind: 'text', text: 'hi' }] };
  expect((await rpc('message/send', { message, metadata })).result.id).toBe(task.id);
  expect(agent.requests).toHaveLength(1);

  const body = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: later };
  const other = (await mesh.call('POST', '/a2a', { body, as: 'usr_other' })).body;
  const renamed = { ...later, message: { ...later.message, messageId: 'm2' } };
  const changed = { ...later, message: { ...later.message, parts: [{ text: 'ho' }] } };
  const ids = [await rpc('SendMessage', renamed), await rpc('SendMessage', changed), other];
  expect(new Set([task.id, ...ids.map(({ result }) => result.task.id)]).size).toBe(4);
  finish();
});

test('the SDK’s client finds the card, sends a message to any agent and reads its task', async () => {
  await using agent = await startAgent((_, response) => reply(response, 200, { text: 'hello' }));
  ground.directory.put(agentOf('a', { capabilities: ['greet'], endpoints: { rest: agent.url } }));
  const authorization = `Bearer ${await mesh.tokenOf('usr_asker')}`;
  const fetchImpl: typeof fetch = (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set('authorization', authorization);
    return fetch(input, { ...init, headers });
  };
  const factory = new ClientFactory(
    ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
      transports: [new JsonRpcTransportFactory({ fetchImpl })],
    }),
  );
  const client = await factory.createFromUrl(mesh.url);
  const answer = (await client.sendMessage({
    message: {
      messageId: 'm1',
      role: 1,
      parts: [
        {
          content: { $case: 'text', value: 'hi' },
          metadata: undefined,
          filename: '',
          mediaType: '',
        },
      ],
      contextId: '',
      taskId: '',
      extensions: [],
      referenceTaskIds: [],
      metadata: undefined,
    },
    configuration: undefined,
    metadata: { mesh: { capability: 'greet' } },
    tenant: '',
  })) as Answer;
  const task = answer.task ?? answer;
  expect(task.status.state).toBe(3);
  expect(task.artifacts[0].parts[0].content).toEqual({ $case: 'text', value: 'hello' });
  expect(agent.requests[0]?.body).toMatchObject({ type: 'greet', input: { prompt: 'hi' } });
  const read = (await client.getTask({ id: task.id, tenant: '' })) as Answer;
  expect(read.status.state).toBe(3);
  await expect(client.cancelTask({ id: task.id, tenant: '', metadata: {} })).rejects.toThrow();
});

test('clients of 0.3 are answered in its words, failures as failed tasks', async () => {
  await using agent = await startAgent(({ path }, response) =>
    reply(response, path.startsWith('/bad') ? 500 : 200, { n: 1 }),
  );
  ground.directory.put(
    agentOf('good', { endpoints: { rest: agent.url } }),
    agentOf('bad', { endpoints: { rest: `${agent.url}/bad` } }),
  );
  const message = {
    kind: 'message',
    messageId: 'm',
    role: 'user',
    contextId: 'c9',
    parts: [{ kind: 'data', data: { a: 1 } }],
  };
  const to = (agentId: string) => ({ message, metadata: { mesh: { agentId } } });
  const { result } = await rpc('message/send', to('good'));
  expect(result).toMatchObject({ kind: 'task', contextId: 'c9', status: { state: 'completed' } });
  expect(result.artifacts[0].parts).toEqual([{ kind: 'data', data: { n: 1 } }]);
  expect(agent.requests[0]?.body.input).toEqual({ a: 1 });
  const failed = (await rpc('message/send', to('bad'))).result;
  expect(failed.status).toMatchObject({ state: 'failed', message: { role: 'agent' } });
  const another = { ...to('good'), message: { ...message, messageId: 'n' } };
  const detached = { ...another, configuration: { blocking: false } };
  const begun = (await rpc('message/send', detached)).result;
  expect(begun.status.state).toBe('working');
  await expect
    .poll(async () => (await rpc('tasks/get', { id: begun.id })).result.status.state)
    .toBe('completed');
});

function a2aAgent(speaks: (request: AgentRequest) => unknown) {
  return startAgent((request, response) => {
    const { id } = request.body;
    reply(response, 200, { jsonrpc: '2.0', id, ...(speaks(request) as object) });
  });
}

test('an agent of 1.0 is sent SendMessage, and followed until its task has ended', async () => {
  let asked = 0;
  await using agent = await a2aAgent(({ body }) => {
    if (body.method === 'SendMessage') {
      return {
        result: { task: { id: 't1', contextId: 'c', status: { state: 'TASK_STATE_WORKING' } } },
      };
    }
    asked += 1;
    const state = asked < 2 ? 'TASK_STATE_WORKING' : 'TASK_STATE_COMPLETED';
    const artifacts = [{ artifactId: 'x', parts: [{ text: 'LGTM' }] }];
    return { result: { id: 't1', contextId: 'c', status: { state }, artifacts } };
  });
  ground.directory.put(agentOf('rev', { endpoints: { a2a: agent.url, a2aVersion: '1.0' } }));
  const { status, body } = await execute('rev');
  expect([status, body.result]).toEqual([200, { text: 'LGTM' }]);
  const [first] = agent.requests;
  expect(first?.headers['a2a-version']).toBe('1.0');
  expect(first?.body.params.message).toMatchObject({ role: 'ROLE_USER', parts: [{ text: 'hi' }] });
});

test('the files of an agent’s artifacts are in the result, under one set of names', async () => {
  const png = { mediaType: 'image/png', filename: 'chart.png', raw: 'aWJt' };
  const linked = { mediaType: 'image/png', url: 'https://files.test/1' };
  const legacy = [
    { kind: 'text', text: 'see' },
    { kind: 'file', file: { name: 'chart.png', mimeType: 'image/png', bytes: 'aWJt' } },
    { kind: 'file', file: { mimeType: 'image/png', uri: 'https://files.test/1' } },
  ];
  for (const [parts, result] of [
    [[png], { files: [png] }],
    [[{ text: 'see' }, linked], { text: 'see', files: [linked] }],
    [[{ data: { n: 1 } }, png], { data: { n: 1 }, files: [png] }],
    [legacy, { text: 'see', files: [png, linked] }],
  ]) {
    const status = { state: 'TASK_STATE_COMPLETED' };
    const task = { id: 't', status, artifacts: [{ artifactId: 'x', parts }] };
    await using agent = await a2aAgent(() => ({ result: { task } }));
    ground.directory.put(agentOf('artist', { endpoints: { a2a: agent.url } }));
    expect((await execute('artist')).body.result).toEqual(result);
  }
});

test('an agent that knows 0.3 only is found out, and told so the next time at once', async () => {
  await using agent = await a2aAgent(({ body }) => {
    if (body.method !== 'message/send') return { error: { code: -32601, message: 'no' } };
    return { result: { kind: 'message', role: 'agent', parts: [{ kind: 'text', text: 'yes' }] } };
  });
  ground.directory.put(agentOf('old', { endpoints: { a2a: agent.url } }));
  expect((await execute('old')).body.result).toEqual({ text: 'yes' });
  expect((await execute('old')).body.result).toEqual({ text: 'yes' });
  expect(agent.requests.map(({ body }) => body.method)).toEqual([
    'SendMessage',
    'message/send',
    'message/send',
  ]);
});

test('a task that an A2A agent fails, refuses or garbles is 502; out of time it is called off', async () => {
  const states = ['TASK_STATE_FAILED', 'TASK_STATE_REJECTED', 'TASK_STATE_INPUT_REQUIRED'];
  for (const state of [...states, undefined]) {
    await using agent = await a2aAgent(() => ({
      result: { task: { id: 't', status: { state } } },
    }));
    ground.directory.put(agentOf('bad', { endpoints: { a2a: agent.url } }));
    expect([state, (await execute('bad')).status]).toEqual([state, 502]);
  }
  await using slow = await a2aAgent(() => ({
    result: { task: { id: 't9', status: { state: 'TASK_STATE_WORKING' } } },
  }));
  ground.directory.put(agentOf('slow', { endpoints: { a2a: slow.url } }));
  expect((await execute('slow', 300)).status).toBe(504);
  await expect
    .poll(() => slow.requests.at(-1)?.body)
    .toMatchObject({
      method: 'CancelTask',
      params: { id: 't9' },
    });
});
