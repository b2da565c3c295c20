import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Fault } from '../../kit/errors.ts';
import { aConnection, emptyOffer, openAggregate } from '../aggregate/testing.ts';
import { unreachable } from '../links/link-faults.ts';
import type { ExchangeOptions, Link } from '../links/link.ts';

type Ground = Awaited<ReturnType<typeof openAggregate>>;
type CallTool = (name: string, input: unknown, options: ExchangeOptions) => Promise<unknown>;

const readTool = {
  name: 'read',
  inputSchema: {
    type: 'object' as const,
    properties: { path: { type: 'string', pattern: '^(a+)+$' }, depth: { type: 'integer' } },
    required: ['path'],
  },
};
const offer = { ...emptyOffer, tools: [readTool] };

const files = aConnection({ name: 'files', offer, quarantined: ['write'] });
const broken = aConnection({ name: 'broken', offer });
const wild = aConnection({ name: 'wild', offer: emptyOffer, declared: [{ name: 'said' }] });
const { offer: _unlearned, ...fresh } = aConnection({
  name: 'fresh',
  declared: [{ name: 'unheard' }],
});
const gone = aConnection({ name: 'gone', status: 'disconnected', offer });
const silent = aConnection({ name: 'silent', type: 'client', endpoint: { url: '' } });

let ground: Ground;
let token: string;
let callTool: CallTool;
let sent: { readonly name: string; readonly options: ExchangeOptions }[];
let refusedToOpen: ReadonlySet<string>;

beforeAll(async () => {
  ground = await openAggregate({
    open: async (id) => {
      if (refusedToOpen.has(id)) throw new Fault('unavailable', 'there is no connection');
      const link: Pick<Link, 'callTool'> = {
        callTool: async (name, input, options = {}) => {
          sent.push({ name, options });
          return (await callTool(name, input, options)) as Awaited<ReturnType<Link['callTool']>>;
        },
      };
      return link as Link;
    },
  });
  for (const connection of [broken, files, wild, fresh, gone, silent])
    ground.directory.put(connection);
  token = await ground.token(['registry:call']);
});
afterAll(() => ground[Symbol.asyncDispose]());
beforeEach(() => {
  callTool = async () => ({ content: [{ type: 'text', text: 'done' }] });
  sent = [];
  refusedToOpen = new Set([broken.id]);
  for (const list of Object.values(ground.told)) list.length = 0;
});

async function post(path: string, body: unknown, init: RequestInit & { as?: string } = {}) {
  const { as = token, ...rest } = init;
  const response = await fetch(`${ground.address}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${as}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...rest,
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const call = (id: string, body: unknown, init?: Parameters<typeof post>[2]) =>
  post(`/connections/${id}/call`, body, init);

describe('what is not called', () => {
  test('nothing by who may only read', async () => {
    const { status } = await call(
      files.id,
      { tool: 'read', arguments: { path: 'a' } },
      { as: await ground.token(['registry:write']) },
    );
    expect(status).toBe(403);
    expect(sent).toEqual([]);
  });

  test.each([
    ['an unknown connection', 'con_unknown', 'read', 404, 'CONNECTION_NOT_FOUND'],
    ['a disconnected one', gone.id, 'read', 409, 'NOT_CALLABLE'],
    ['a client without an endpoint', silent.id, 'read', 409, 'NOT_CALLABLE'],
    ['a tool that the server has not', files.id, 'nothing', 404, 'TOOL_NOT_FOUND'],
    ['a tool in quarantine', files.id, 'write', 409, 'TOOL_CHANGED'],
  ])('%s', async (_title, id, tool, status, code) => {
    const answer = await call(id, { tool });
    expect(answer.status).toBe(status);
    expect(JSON.stringify(answer.body)).toContain(code);
    expect(sent).toEqual([]);
  });

  test.each([{}, { path: 7 }, { path: 'a', depth: 1.5 }])(
    'a tool whose schema the arguments do not fit: %j',
    async (input) => {
      const answer = await call(files.id, { tool: 'read', arguments: input });
      expect(answer.status).toBe(400);
      expect(JSON.stringify(answer.body)).toContain('INVALID_ARGUMENTS');
      expect(sent).toEqual([]);
    },
  );

  test('a pattern of a server that never ends on some texts is left to that server', async () => {
    const path = `${'a'.repeat(60)}!`;
    expect((await call(files.id, { tool: 'read', arguments: { path } })).status).toBe(200);
  });
});

describe('a call that fails', () => {
  test('says what the server refused, and does not count against the server', async () => {
    callTool = async () => {
      const detail = { code: -32_602, message: 'no such path', data: { path: 'a' } };
      throw new Fault('upstream', 'no such path', { reason: 'server_error', detail });
    };
    const answer = await call(files.id, { tool: 'read', arguments: { path: 'a' } });
    expect(answer.status).toBe(502);
    expect(JSON.stringify(answer.body)).toContain('-32602');
    const told = [{ connectionId: files.id, outcome: 'refused' }];
    expect(ground.told).toMatchObject({ passive: told, ended: told, events: told });
  });

  test.each(['deadline', 'unavailable', 'upstream'] as const)(
    'of %s counts against the server',
    async (code) => {
      callTool = async () => {
        throw new Fault(code, 'it failed');
      };
      const answer = await call(files.id, { tool: 'read', arguments: { path: 'a' } });
      expect(answer.status).toBeGreaterThanOrEqual(502);
      expect(ground.told.ended).toEqual([{ connectionId: files.id, outcome: 'error' }]);
      expect(ground.told.passive).toEqual([{ connectionId: files.id, outcome: 'error' }]);
    },
  );

  test.each([
    [
      'a time of its own that is shorter than a check’s says nothing of the server',
      50,
      'cancelled',
    ],
    ['the time of a check and more counts against the server', undefined, 'error'],
  ])('by %s', async (_title, timeout, outcome) => {
    callTool = async () => {
      throw new Fault('deadline', 'the server did not answer in time');
    };
    await call(files.id, { tool: 'read', arguments: { path: 'a' }, timeout });
    expect(ground.told.events).toMatchObject([{ outcome }]);
    expect(ground.told.ended).toMatchObject([{ outcome }]);
    expect(ground.told.passive).toHaveLength(outcome === 'error' ? 1 : 0);
  });

  test('because the server is too late says for how long it was waited for', async () => {
    callTool = async (_name, _input, { timeoutMs = 0 }) => {
      await new Promise((resolve) => setTimeout(resolve, timeoutMs + 2));
      throw new Fault('deadline', 'the server did not answer in time', { reason: 'timeout' });
    };
    const input = { tool: 'read', arguments: { path: 'a' }, timeout: 40 };
    const { status, body } = await call(files.id, input);
    expect(status).toBe(504);
    expect(body).toMatchObject({
      error: {
        code: 'TIMEOUT',
        message: 'the server did not answer within 40 ms',
        details: { waitedMs: 40 },
      },
    });
  });

  test('of the tool itself is an answer', async () => {
    callTool = async () => ({ content: [{ type: 'text', text: 'no disk' }], isError: true });
    const { status, body } = await call(files.id, { tool: 'read', arguments: { path: 'a' } });
    expect(status).toBe(200);
    expect(body).toMatchObject({ isError: true, result: 'no disk' });
  });
});

test('an answer has the structure where there is one, else the texts', async () => {
  callTool = async () => ({ content: [], structuredContent: { lines: 3 } });
  const structured = await call(files.id, { tool: 'read', arguments: { path: 'a' } });
  expect(structured.body).toMatchObject({
    connectionId: files.id,
    tool: 'read',
    result: { lines: 3 },
    isError: false,
    duration: expect.any(Number),
  });
  callTool = async () => ({
    content: [
      { type: 'text', text: 'one' },
      { type: 'image', data: '', mimeType: 'image/png' },
      { type: 'text', text: 'two' },
    ],
  });
  const texts = await call(files.id, { tool: 'read', arguments: { path: 'a' } });
  expect(texts.body).toMatchObject({ result: 'one\ntwo', content: [{}, {}, {}] });
});

test('a tool that is only declared is called while its server was not asked yet', async () => {
  expect((await call(fresh.id, { tool: 'unheard' })).status).toBe(200);
});

test('a call is a span that the server gets as its parent, and is told to all who count', async () => {
  await call(files.id, { tool: 'read', arguments: { path: 'a' }, timeout: 1234 });
  const [span] = ground.told.spans;
  expect(span).toMatchObject({
    name: 'tools/call read',
    attributes: { 'mcp.method.name': 'tools/call', 'registry.connection.id': files.id },
  });
  const [exchange] = sent;
  expect(exchange?.options.traceparent).toBe(`00-${span?.traceId}-${span?.spanId}-01`);
  expect(exchange?.options.timeoutMs).toBeLessThanOrEqual(1234);
  expect(ground.told).toMatchObject({
    active: [files.id],
    ended: [{ connectionId: files.id, outcome: 'success' }],
    events: [{ type: 'capability-request', capability: 'read', outcome: 'success' }],
  });
});

test('a caller who leaves aborts the call at the server, which is nobody’s failure', async () => {
  const leaving = new AbortController();
  const aborted = new Promise<void>((resolve) => {
    callTool = (_name, _input, { signal }) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => {
          reject(new Fault('cancelled', 'given up'));
          resolve();
        });
        leaving.abort();
      });
  });
  const body = { tool: 'read', arguments: { path: 'a' } };
  await expect(call(files.id, body, { signal: leaving.signal })).rejects.toThrow();
  await aborted;
  await expect.poll(() => ground.told.events.length).toBe(1);
  expect(ground.told.events).toMatchObject([{ outcome: 'cancelled' }]);
  expect(ground.told.passive).toEqual([]);
});

describe('a call by capability', () => {
  const body = { arguments: { path: 'a' } };

  test('goes to another connection when the first could not be opened', async () => {
    const answer = await post('/capabilities/read/call', body);
    expect(answer.body).toMatchObject({ connectionId: files.id, result: 'done' });
    expect(ground.told.events).toMatchObject([
      { connectionId: broken.id, outcome: 'error' },
      { connectionId: files.id, outcome: 'success' },
    ]);
  });

  test('is sent once, also when it fails then', async () => {
    refusedToOpen = new Set();
    callTool = async () => {
      throw new Fault('unavailable', 'the process is gone');
    };
    const answer = await post('/capabilities/read/call', body);
    expect(answer.status).toBe(503);
    expect(sent).toHaveLength(1);
  });

  test.each([
    [{ reason: 'insufficient_scope' }, 'refused'],
    [{ reason: 'authorization_required' }, 'error'],
    [{ reason: 'http_status', detail: { status: 429 }, retryAfter: 7 }, 'refused'],
    [{ reason: 'http_status', detail: { status: 503 } }, 'error'],
  ])('that ends in %j counts as %s', async (why, outcome) => {
    refusedToOpen = new Set();
    callTool = async () => {
      throw new Fault('upstream', 'the server wants more', why);
    };
    expect((await post('/capabilities/read/call', body)).status).toBe(502);
    expect(ground.told.events).toMatchObject([{ outcome }]);
  });

  test.each([
    ['ECONNREFUSED', 200, 2],
    ['ECONNRESET', 503, 1],
  ])('over a link that stood, %s answers %i', async (code, status, times) => {
    refusedToOpen = new Set();
    callTool = async () => {
      if (sent.length > 1) return { content: [{ type: 'text', text: 'done' }] };
      throw unreachable(Object.assign(new Error('no'), { code }));
    };
    expect((await post('/capabilities/read/call', body)).status).toBe(status);
    expect(sent).toHaveLength(times);
  });

  test('of what a server only declared and has not is 404, neither sent nor counted', async () => {
    const answer = await post('/capabilities/said/call', {});
    expect(answer.status).toBe(404);
    expect(JSON.stringify(answer.body)).toContain('TOOL_NOT_FOUND');
    expect(sent).toEqual([]);
    expect(ground.told.ended).toEqual([]);
  });

  test('of what nobody offers is 404, and told', async () => {
    const answer = await post('/capabilities/fly/call', {});
    expect(answer.status).toBe(404);
    expect(JSON.stringify(answer.body)).toContain('CAPABILITY_NOT_FOUND');
    expect(ground.told.events).toMatchObject([{ capability: 'fly', outcome: 'not-found' }]);
  });
});
