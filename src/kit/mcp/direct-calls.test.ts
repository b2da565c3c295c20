import { Type } from 'typebox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Contract } from '../contract.ts';
import { plainEnvelope } from '../envelope.ts';
import { Fault } from '../errors.ts';
import { createTestServer, listenAnywhere, silentLog } from '../testing.ts';
import { DirectCalls } from './direct-calls.ts';
import { McpEndpoint } from './endpoint.ts';
import { McpError } from './mcp-error.ts';
import type { CallToolResult, McpTools } from './tools.ts';

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

const text = (said: string): CallToolResult => ({ content: [{ type: 'text', text: said }] });
const failing = (code: number, data?: unknown) => () => {
  throw new McpError(code, 'the server refused', data);
};
const identity = 'io.modelcontextprotocol/serverInfo';

const answers: Readonly<Record<string, (input: unknown) => CallToolResult>> = {
  echo: (input) => text(JSON.stringify(input)),
  structured: () => ({ ...text('{}'), structuredContent: { n: 1 }, isError: false }),
  annotated: () => ({ ...text('x'), _meta: { trace: 'a', n: 1 } }),
  signed: () => ({ ...text('x'), _meta: { [identity]: { name: 'behind', version: '9' } } }),
  failed: () => ({ ...text('no'), isError: true }),
  exhausted: () => {
    throw new Fault('exhausted', 'too many notes');
  },
  crash: () => {
    throw new Error('secret detail');
  },
  refused: failing(-32_001, { why: 'because' }),
  renamed: failing(-32_002),
  uncounted: failing(1.5),
  incapable: failing(-32_021, { requiredCapabilities: { sampling: {} } }),
};

const tools: McpTools = {
  list: () => Object.keys(answers).map((name) => ({ name, inputSchema: { type: 'object' } })),
  call: async (name, input) => {
    const answer = answers[name];
    if (!answer) throw new Fault('not_found', `no ${name}`, { reason: 'tool_not_found' });
    return answer(input);
  },
};

const revision = '2026-07-28';
let clientCount = 0;

/** What a client tells of itself, like no other's unless it is given. */
function envelopeOf(given: object = {}) {
  clientCount += 1;
  return {
    'io.modelcontextprotocol/protocolVersion': revision,
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: `1.0.${clientCount}` },
    'io.modelcontextprotocol/clientCapabilities': {},
    ...given,
  };
}

function messageOf(params: object, given: object = {}) {
  return { jsonrpc: '2.0', id: 7, method: 'tools/call', params, ...given };
}

function headersOf(name: string, given: object = {}): Record<string, string> {
  return {
    'content-type': 'application/json',
    'mcp-protocol-version': revision,
    'mcp-method': 'tools/call',
    'mcp-name': name,
    ...given,
  };
}

describe('what is answered without the SDK', () => {
  let url: string;
  let authorization: string;
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
      log: silentLog,
    });
    http.serve(contract, { mcp: (call) => endpoint.handle(call) });
    url = `${await listenAnywhere(http)}/mcp`;
    authorization = `Bearer ${await issuer.sign()}`;
    close = async () => {
      await endpoint[Symbol.asyncDispose]();
      await http.close(0);
    };
  });
  afterAll(() => close());

  async function post(message: object, headers: Record<string, string>) {
    const accept = 'application/json, text/event-stream';
    const response = await fetch(url, {
      method: 'POST',
      headers: { authorization, accept, ...headers },
      body: JSON.stringify(message),
    });
    const [type] = (response.headers.get('content-type') ?? '').split(';');
    return { status: response.status, type, body: (await response.json()) as object };
  }

  test.each([...Object.keys(answers), 'unknown'])(
    'is to the letter what the SDK answers: %s',
    async (name) => {
      const message = messageOf({ name, arguments: { a: [1, null] }, _meta: envelopeOf() });
      const bySdk = await post(message, headersOf(name));
      expect(await post(message, headersOf(name))).toEqual(bySdk);
      const other = { ...message, id: 'text id' };
      expect((await post(other, headersOf(name))).body).toEqual({ ...bySdk.body, id: 'text id' });
    },
  );

  test('of a call without arguments too', async () => {
    const message = messageOf({ name: 'echo', _meta: envelopeOf() });
    const bySdk = await post(message, headersOf('echo'));
    expect(bySdk.body).toMatchObject({ result: { content: [{ text: '{}' }] } });
    expect(await post(message, headersOf('echo'))).toEqual(bySdk);
  });

  test('is refused by the SDK still when it does not fit its headers', async () => {
    const message = messageOf({ name: 'echo', _meta: envelopeOf() });
    await post(message, headersOf('echo'));
    const wrong = await post(message, headersOf('failed'));
    expect(wrong).toMatchObject({ status: 400, body: { error: { code: -32_020 } } });
  });
});

describe('a call is left to the SDK', () => {
  const envelope = envelopeOf();
  const params = { name: 'echo', arguments: {}, _meta: envelope };
  const plain = { body: messageOf(params), headers: headersOf('echo') };

  test('until it has accepted what the client tells of itself', () => {
    const direct = new DirectCalls();
    expect(direct.read(plain)).toBeUndefined();
    direct.accept(plain);
    expect(direct.read(plain)).toMatchObject({ id: 7, name: 'echo', input: {} });
    const other = { ...params, _meta: envelopeOf() };
    expect(direct.read({ ...plain, body: messageOf(other) })).toBeUndefined();
    const traced = { ...params, _meta: { ...envelope, traceparent: '00-a' } };
    expect(direct.read({ ...plain, body: messageOf(traced) })?.traceparent).toBe('00-a');
  });

  test.each<[string, object, object]>([
    ['asks for progress', { params: { ...params, _meta: { ...envelope, progressToken: 1 } } }, {}],
    ['has an unknown wish', { params: { ...params, _meta: { ...envelope, wish: 1 } } }, {}],
    ['answers an earlier question', { params: { ...params, requestState: 'x' } }, {}],
    ['has no name', { params: { ...params, name: 1 } }, {}],
    ['has a list of arguments', { params: { ...params, arguments: [] } }, {}],
    ['has no envelope', { params: { name: 'echo' } }, {}],
    ['has no parameters', { params: undefined }, {}],
    ['has no id', { id: undefined }, {}],
    ['has a broken id', { id: 1.5 }, {}],
    ['is of another method', { method: 'tools/list' }, {}],
    ['is no JSON-RPC 2.0', { jsonrpc: '1.0' }, {}],
    ['names another tool in its header', {}, { 'mcp-name': 'echo2' }],
    ['names no method in its header', {}, { 'mcp-method': undefined }],
    ['is of another revision by its header', {}, { 'mcp-protocol-version': '2025-11-25' }],
    ['is of a session', {}, { 'mcp-session-id': 'a' }],
    ['is no JSON', {}, { 'content-type': 'text/plain' }],
  ])('when it %s', (_what, message, headers) => {
    const direct = new DirectCalls();
    direct.accept(plain);
    const body = messageOf(params, message);
    expect(direct.read({ body, headers: headersOf('echo', headers) })).toBeUndefined();
  });

  test('when it is a list of messages', () => {
    const direct = new DirectCalls();
    direct.accept(plain);
    expect(direct.read({ ...plain, body: [plain.body] })).toBeUndefined();
  });
});
