import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Type } from 'typebox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Contract } from '../contract.ts';
import { plainEnvelope } from '../envelope.ts';
import { Fault } from '../errors.ts';
import { createTestServer, listenAnywhere, silentLog } from '../testing.ts';
import { McpEndpoint } from './endpoint.ts';
import { McpError } from './mcp-error.ts';
import type { McpCallContext, McpTools } from './tools.ts';

const contract = {
  name: 'notes',
  title: 'Notes',
  version: '1.2.3',
  description: 'Notes for tests.',
  error: plainEnvelope.schema,
  routes: {
    mcp: {
      method: 'POST',
      url: '/mcp',
      summary: 'Speak MCP',
      schema: { body: Type.Unknown(), response: { 200: Type.Unknown() } },
    },
  },
} as const satisfies Contract;

/** Calls of `wait` that are running: each ends when its signal is aborted. */
const waiting: McpCallContext[] = [];
let notifyWaiting = () => {};

/** What a server of an older revision says that wants its user to go somewhere. */
const login = {
  elicitations: [{ mode: 'url', elicitationId: '1', url: 'https://login.example/', message: 'x' }],
};

const calls: Readonly<
  Record<string, (input: unknown, context: McpCallContext) => Promise<string>>
> = {
  echo: (input) => Promise.resolve(JSON.stringify(input)),
  whoami: (_input, { identity }) => Promise.resolve(identity.subject),
  count: (_input, { report }) => {
    for (const progress of [1, 2, 3]) report({ progress, total: 3 });
    return Promise.resolve('counted');
  },
  fail: () => Promise.reject(new Fault('exhausted', 'too many notes')),
  crash: () => Promise.reject(new Error('secret detail')),
  login: () => Promise.reject(new McpError(-32_042, 'log in first', login)),
  wait: (_input, context) =>
    new Promise((_resolve, reject) => {
      waiting.push(context);
      notifyWaiting();
      context.signal.addEventListener('abort', () => reject(new Fault('cancelled', 'given up')));
    }),
};

const tools: McpTools = {
  list: () =>
    Object.keys(calls).map((name) => ({ name, inputSchema: { type: 'object' }, title: name })),
  call: async (name, input, context) => {
    const call = calls[name];
    if (!call) throw new Fault('not_found', `no ${name}`, { reason: 'tool_not_found' });
    return { content: [{ type: 'text', text: await call(input, context) }] };
  },
};

let url: string;
let token: string;
let close: () => Promise<void>;

beforeAll(async () => {
  const { http, issuer } = await createTestServer(contract);
  const endpoint = new McpEndpoint({
    name: 'notes',
    title: 'Notes',
    version: '1.2.3',
    instructions: 'Take notes.',
    url: 'http://notes.test',
    tools,
    prompts: { list: () => Promise.resolve([]), get: () => Promise.resolve({ messages: [] }) },
    resources: {
      list: () => Promise.resolve([]),
      listTemplates: () => Promise.resolve([]),
      read: () => Promise.resolve({ contents: [] }),
    },
    log: silentLog,
  });
  http.serve(contract, { mcp: (call) => endpoint.handle(call) });
  url = `${await listenAnywhere(http)}/mcp`;
  token = await issuer.sign();
  close = async () => {
    await endpoint[Symbol.asyncDispose]();
    await http.close(0);
  };
});
afterAll(() => close());

const eras = [
  { era: 'the stateless protocol', mode: 'auto', version: '2026-07-28' },
  { era: 'the protocol before it', mode: 'legacy', version: '2025-11-25' },
] as const;

async function connect(mode: 'auto' | 'legacy', credential = token) {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(url), {
      requestInit: { headers: { authorization: `Bearer ${credential}` } },
    }),
  );
  return client;
}

function post(body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      ...headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

/** The context of the next call of `wait`. */
async function nextWaiting(): Promise<McpCallContext> {
  if (waiting.length === 0) await new Promise<void>((resolve) => (notifyWaiting = resolve));
  const context = waiting.shift();
  if (!context) throw new Error('nobody waits');
  return context;
}

function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
}

const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };

test.each(eras)('no list has a page with a cursor that nobody gave, in $era', async ({ mode }) => {
  const client = await connect(mode);
  const refused = { code: -32_602, message: expect.stringContaining('no page') };
  for (const list of ['tools', 'prompts', 'resources', 'resources/templates']) {
    const asked = { method: `${list}/list`, params: { cursor: 'unknown' } };
    await expect(client.request(asked as never)).rejects.toMatchObject(refused);
  }
});

describe('who may not speak', () => {
  test('nobody without a token', async () => {
    const response = await post(ping, { authorization: `Bearer ${token}x` });
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toContain('Bearer');
    await expect(connect('auto', `${token}x`)).rejects.toThrow();
  });

  test.each(['http://evil.example', 'null', 'http://127.0.0.1.evil.example'])(
    'no page of another site: %s',
    async (origin) => {
      const response = await post(ping, { origin });
      expect(response.status).toBe(403);
      expect(await response.json()).toMatchObject({ error: { code: 'ORIGIN_REFUSED' } });
    },
  );

  test.each(['http://notes.test', 'http://localhost:6274', 'http://127.0.0.1:1'])(
    'but a page of its own or of this machine: %s',
    async (origin) => {
      expect((await post(ping, { origin })).status).toBe(200);
    },
  );
});

describe('what is no message', () => {
  test('a message that is not JSON-RPC is a JSON-RPC error', async () => {
    const response = await post({ hello: 'world' });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ jsonrpc: '2.0', error: { code: -32_600 } });
  });

  test('a batch of more than 16 messages is refused', async () => {
    const batch = (length: number) => Array.from({ length }, (_, id) => ({ ...ping, id }));
    expect((await post(batch(17))).status).toBe(400);
    const answered = await post(batch(16));
    expect(answered.status).toBe(200);
    expect((await answered.text()).match(/"result":/g)).toHaveLength(16);
  });

  test('an unknown method is the JSON-RPC error -32601', async () => {
    const response = await post({ jsonrpc: '2.0', id: 7, method: 'notes/burn' });
    expect(await response.text()).toContain('"code":-32601');
  });

  test('GET is refused with 405, since there is no stream of the server', async () => {
    const response = await fetch(url, { headers: { accept: 'text/event-stream' } });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('POST');
  });
});

describe.each(eras)('over $era', ({ mode, version }) => {
  let client: Client;
  beforeAll(async () => {
    client = await connect(mode);
  });
  afterAll(() => client.close());

  test('a client learns the name, the version and the instructions', () => {
    expect(client.getNegotiatedProtocolVersion()).toBe(version);
    expect(client.getServerVersion()).toMatchObject({ name: 'notes', version: '1.2.3' });
    expect(client.getInstructions()).toBe('Take notes.');
  });

  test('an unknown tool is a protocol error', async () => {
    await expect(client.callTool({ name: 'burn' })).rejects.toMatchObject({ code: -32_602 });
  });

  test('an error of another server keeps its code, its message and its data', async () => {
    const refusal = { code: -32_042, message: 'log in first', data: login };
    for (const options of [{}, { onprogress: () => {} }]) {
      const refused = client.callTool({ name: 'login' }, options);
      await expect(refused).rejects.toMatchObject(refusal);
    }
  });

  test('a Fault of a tool is a result that the model can read', async () => {
    expect(await client.callTool({ name: 'fail' })).toMatchObject({
      isError: true,
      content: [{ type: 'text', text: 'too many notes' }],
    });
  });

  test('a crash of a tool tells nothing of its inside', async () => {
    expect(await client.callTool({ name: 'crash' })).toMatchObject({
      isError: true,
      content: [{ type: 'text', text: 'internal error' }],
    });
  });

  test('tools are listed and called with their arguments, as the identity of the token', async () => {
    const { tools: listed } = await client.listTools();
    expect(listed.map(({ name }) => name)).toEqual(Object.keys(calls));
    expect(await client.callTool({ name: 'echo', arguments: { a: 1 } })).toMatchObject({
      content: [{ type: 'text', text: '{"a":1}' }],
    });
    expect(await client.callTool({ name: 'whoami' })).toMatchObject({
      content: [{ type: 'text', text: 'usr_test' }],
    });
  });

  test('progress reaches a caller who asks for it', async () => {
    const seen: number[] = [];
    const onprogress = ({ progress }: { progress: number }) => seen.push(progress);
    await client.callTool({ name: 'count' }, { onprogress });
    expect(seen).toEqual([1, 2, 3]);
  });

  test('a caller who gives up aborts the call', async () => {
    const giveUp = new AbortController();
    const call = client.callTool({ name: 'wait' }, { signal: giveUp.signal });
    const { signal } = await nextWaiting();
    giveUp.abort();
    await expect(call).rejects.toThrow();
    await untilAborted(signal);
  });
});

test('a client whose connection breaks aborts the call', async () => {
  const gone = new AbortController();
  const response = fetch(url, {
    method: 'POST',
    signal: gone.signal,
    headers: {
      authorization: `Bearer ${token}`,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
    },
    body: JSON.stringify(waitCall),
  }).then((answer) => answer.text());
  const { signal } = await nextWaiting();
  gone.abort();
  await expect(response).rejects.toThrow();
  await untilAborted(signal);
});

test('a cancellation aborts the call of its session, and no other with that id', async () => {
  const sessions = await Promise.all([openSession(), openSession()]);
  const contexts: McpCallContext[] = [];
  const answers: Promise<string>[] = [];
  for (const session of sessions) {
    answers.push(post(waitCall, { 'mcp-session-id': session }).then((answer) => answer.text()));
    contexts.push(await nextWaiting());
  }
  const [first, second] = contexts;
  const params = { requestId: waitCall.id };
  const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params };
  const accepted = await post(cancelled, { 'mcp-session-id': sessions[0] });
  expect(accepted.status).toBe(202);
  expect(first?.signal.aborted).toBe(true);
  expect(second?.signal.aborted).toBe(false);
  await post(cancelled, { 'mcp-session-id': sessions[1] });
  expect(second?.signal.aborted).toBe(true);
  expect(await Promise.all(answers)).toEqual(['', '']);
});

test('a call that is cancelled in a batch leaves the answers of the others', async () => {
  const session = await openSession();
  const beside = { jsonrpc: '2.0', id: 6, method: 'ping' };
  const answer = post([waitCall, beside], { 'mcp-session-id': session });
  const { signal } = await nextWaiting();
  const params = { requestId: waitCall.id };
  const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params };
  await post(cancelled, { 'mcp-session-id': session });
  await untilAborted(signal);
  expect(await (await answer).text()).toContain('"id":6');
});

const waitCall = { jsonrpc: '2.0', id: 5, method: 'tools/call', params: { name: 'wait' } };

async function openSession(): Promise<string> {
  const params = {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  };
  const response = await post({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
  await response.text();
  return response.headers.get('mcp-session-id') ?? '';
}
