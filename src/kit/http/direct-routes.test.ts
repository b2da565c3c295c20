import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { Type } from 'typebox';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Contract, Route } from '../contract.ts';
import { plainEnvelope } from '../envelope.ts';
import { Fault } from '../errors.ts';
import { JsonLines } from '../answers/json-lines.ts';
import { PushedAnswer } from '../answers/pushed-answer.ts';
import { EventStream } from '../answers/sse.ts';
import { createTestServer, listenAnywhere } from '../testing.ts';
import { asciiJson, WrittenAsciiJson, WrittenJsonText } from '../answers/written-json.ts';
import type { Call, Handlers } from './call.ts';

/** One route twice: `/direct` past the framework, `/framed` by it. */
function routeAt(url: string) {
  return {
    method: 'POST',
    url,
    summary: 'Do as told',
    permission: 'notes:write',
    bodyBytesMax: 1_000,
    schema: {
      query: Type.Object({ times: Type.Integer({ default: 1, minimum: 1, maximum: 3 }) }),
      body: Type.Object({
        do: Type.String({ maxLength: 20 }),
        text: Type.Optional(Type.String()),
      }),
      response: { 201: Type.Object({ said: Type.String(), extra: Type.Optional(Type.String()) }) },
      stream: Type.String(),
      lines: Type.String(),
    },
  } as const satisfies Route;
}

function listAt(url: string) {
  return {
    method: 'GET',
    url,
    summary: 'List',
    auth: 'none',
    schema: {
      query: Type.Object({ tag: Type.Optional(Type.Array(Type.String())) }),
      response: { 200: Type.Object({ tags: Type.Array(Type.String()) }) },
    },
  } as const satisfies Route;
}

const contract = {
  name: 'notes',
  title: 'Notes',
  version: '1.0.0',
  description: 'Notes for tests.',
  error: plainEnvelope.schema,
  routes: {
    direct: { ...routeAt('/direct'), isDirect: true },
    framed: routeAt('/framed'),
    directList: { ...listAt('/direct/list'), isDirect: true },
    framedList: listAt('/framed/list'),
  },
} as const satisfies Contract;

type ActCall = Call<ReturnType<typeof routeAt>>;

function act(call: ActCall) {
  const what = call.body.do;
  if (what === 'at once') return { said: 'at once' };
  if (what.startsWith('events')) return new EventStream(countTo(what));
  if (what.startsWith('lines')) return new JsonLines(countTo(what));
  if (what.startsWith('pieces')) return pushed(what);
  return actLater(call);
}

async function* countTo(what: string) {
  if (what.endsWith('none')) throw new Fault('upstream', 'the source is broken');
  yield { data: '1' };
  if (what.endsWith('one')) throw new Fault('upstream', 'the source broke');
  yield { data: '2' };
}

function pushed(what: string): PushedAnswer {
  return new PushedAnswer('text/plain', async (sink) => {
    for await (const { data } of countTo(what)) sink.write(data);
  });
}

async function actLater(
  call: ActCall,
): Promise<{ said: string } | WrittenJsonText | WrittenAsciiJson> {
  const { do: what, text: said = '' } = call.body;
  if (what === 'fail') throw new TypeError('a secret of the implementation');
  if (what === 'refuse') throw new Fault('conflict', 'twice', { reason: 'is_there' });
  if (what === 'throttle') throw new Fault('exhausted', 'later', { retryAfter: 7 });
  if (what === 'written') return new WrittenJsonText('{"said":"ä€😀"}');
  if (what === 'ascii') return new WrittenAsciiJson(asciiJson({ said: 'ä€😀' }));
  call.setHeader('x-note', 'one');
  const answer = { said: said.repeat(call.query.times), secret: 'never leaves' };
  return answer;
}

const handlers: Handlers<typeof contract> = {
  direct: act,
  framed: act,
  directList: ({ query }) => ({ tags: query.tag ?? [] }),
  framedList: ({ query }) => ({ tags: query.tag ?? [] }),
};

let server: Awaited<ReturnType<typeof createTestServer>>;
let url: string;
let token: string;
let reader: string;

beforeAll(async () => {
  server = await createTestServer(contract, { requestTimeoutMs: 1_500 });
  server.http.serve(contract, handlers);
  url = await listenAnywhere(server.http);
  token = await server.issuer.sign({ permissions: ['notes:write'] });
  reader = await server.issuer.sign({ permissions: ['notes:read'] });
});

afterAll(() => server.http.close(100));

interface Sent {
  readonly method?: string;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string | Buffer;
}

/** Sends bytes as they are; what came back, once the server has closed. */
async function sendRaw(bytes: string | Buffer): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.write(bytes);
  return text(socket);
}

function bytesOf(path: string, { method = 'POST', query = '', headers, body = '' }: Sent): Buffer {
  const all = {
    host: 'a',
    connection: 'close',
    'x-request-id': 'req-1',
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    authorization: `Bearer ${token}`,
    ...(body.length > 0 ? { 'content-type': 'application/json' } : {}),
    ...(body.length > 0 ? { 'content-length': String(Buffer.byteLength(body)) } : {}),
    ...headers,
  };
  const lines = Object.entries(all).filter(([, value]) => value !== undefined);
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return Buffer.concat([
    Buffer.from(`${method} ${path}${query} HTTP/1.1\r\n${head}\r\n`),
    Buffer.from(body),
  ]);
}

/** What an answer says, less what differs from one moment to the next. */
function read(raw: string) {
  const interim = 'HTTP/1.1 100 Continue\r\n\r\n';
  const isContinued = raw.startsWith(interim);
  const [head = '', body = ''] = raw.slice(isContinued ? interim.length : 0).split('\r\n\r\n');
  const [status = '', ...lines] = head.split('\r\n');
  const varying = /^(date|x-ratelimit-(remaining|reset)):/i;
  return {
    isContinued,
    status,
    headers: lines
      .filter((line) => !varying.test(line))
      .map((line) => line.replace(/^[^:]+/, (name) => name.toLowerCase()))
      .toSorted(),
    body: body
      .replaceAll(/\/(direct|framed)/g, '/path')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'now'),
  };
}

async function askBoth(sent: Sent, below = '') {
  const direct = read(await sendRaw(bytesOf(`/direct${below}`, sent)));
  const framed = read(await sendRaw(bytesOf(`/framed${below}`, sent)));
  return { direct, framed };
}

const say = JSON.stringify({ do: 'say', text: 'hä😀', more: 1 });
const chunked = '5\r\n{"do"\r\n7\r\n:"say"}\r\n0\r\n\r\n';

describe('a direct route answers as the framework does', () => {
  test.each<[string, Sent, number]>([
    ['a body', { body: say }, 201],
    ['a body behind a byte-order mark', { body: `\u{FEFF}${say}` }, 201],
    ['a body and a query', { body: say, query: '?times=3' }, 201],
    ['a value given at once', { body: '{"do":"at once"}' }, 201],
    ['an answer that is written already', { body: '{"do":"written"}' }, 201],
    ['an answer written in ASCII', { body: '{"do":"ascii"}' }, 201],
    ['events', { body: '{"do":"events"}' }, 200],
    ['events that never come', { body: '{"do":"events none"}' }, 502],
    ['events that break off', { body: '{"do":"events one"}' }, 200],
    ['lines', { body: '{"do":"lines"}' }, 200],
    ['lines that break off', { body: '{"do":"lines one"}' }, 200],
    ['pieces', { body: '{"do":"pieces"}' }, 200],
    ['pieces that never come', { body: '{"do":"pieces none"}' }, 502],
    ['pieces that break off', { body: '{"do":"pieces one"}' }, 200],
    [
      'another charset',
      { body: say, headers: { 'content-type': 'application/json; charset=latin1' } },
      415,
    ],
    [
      'its charset',
      { body: say, headers: { 'content-type': 'application/json; charset=utf-8' } },
      201,
    ],
    ['a body that is no JSON', { body: 'do=say', headers: { 'content-type': 'text/plain' } }, 415],
    [
      'a form',
      { body: 'do=say', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
      415,
    ],
    [
      'a body that is compressed',
      { body: gzipSync(say), headers: { 'content-encoding': 'gzip' } },
      415,
    ],
    [
      'a body in chunks',
      { body: chunked, headers: { 'content-length': undefined, 'transfer-encoding': 'chunked' } },
      201,
    ],
    ['no body', {}, 400],
    [
      'an empty body',
      { headers: { 'content-type': 'application/json', 'content-length': '0' } },
      400,
    ],
    ['a body that is too large', { body: JSON.stringify({ do: 'x'.repeat(1_100) }) }, 413],
    ['broken JSON', { body: '{"do":' }, 400],
    ['a key twice', { body: '{"do":"say","do":"say"}' }, 400],
    ['a prototype', { body: '{"do":"say","__proto__":{"a":1}}' }, 400],
    ['a field of another type', { body: '{"do":7}' }, 400],
    ['a query that is no number', { body: say, query: '?times=many' }, 400],
    ['a query twice', { body: say, query: '?times=1&times=2' }, 400],
    ['no token', { body: say, headers: { authorization: undefined } }, 401],
    ['a broken token', { body: say, headers: { authorization: 'Bearer x.y.z' } }, 401],
    ['a refusal of the handler', { body: '{"do":"refuse"}' }, 409],
    ['a refusal with a time', { body: '{"do":"throttle"}' }, 429],
    ['a handler that fails', { body: '{"do":"fail"}' }, 500],
    ['another method', { method: 'DELETE' }, 405],
    ['a U+0000 in the address', { body: say, query: '?times=%00' }, 400],
    ['no host', { body: say, headers: { host: undefined } }, 400],
    ['an expectation', { body: say, headers: { expect: '100-continue' } }, 201],
  ])('%s', async (_name, sent, status) => {
    const { direct, framed } = await askBoth(sent);
    expect(direct).toEqual(framed);
    expect(direct.status).toContain(` ${status} `);
  });

  test('a caller without the permission', async () => {
    const { direct, framed } = await askBoth({
      body: say,
      headers: { authorization: `Bearer ${reader}` },
    });
    expect(direct).toEqual(framed);
    expect(direct.status).toContain(' 403 ');
  });

  test.each<[string, Sent, number]>([
    ['a query that is a list', { query: '?tag=a&tag=b%20c+d' }, 200],
    ['a query that is none', { query: '?tag=a' }, 400],
    ['no query', {}, 200],
    ['HEAD', { method: 'HEAD' }, 200],
    ['a body where none belongs', { body: say }, 200],
  ])('to a GET: %s', async (_name, sent, status) => {
    const { direct, framed } = await askBoth({ method: 'GET', ...sent }, '/list');
    expect(direct).toEqual(framed);
    expect(direct.status).toContain(` ${status} `);
  });
});

test('a direct route answers requests of one connection in their order', async () => {
  const first = bytesOf('/direct', { body: say, headers: { connection: 'keep-alive' } });
  const second = bytesOf('/direct', {
    body: '{"do":"at once"}',
    headers: { 'x-request-id': 'req-2' },
  });
  const answers = await sendRaw(Buffer.concat([first, second]));
  expect(answers.indexOf('req-1')).toBeLessThan(answers.indexOf('req-2'));
  expect(answers.match(/HTTP\/1.1 201/g)).toHaveLength(2);
});

test.each([0, 7])(
  'a body that comes in pieces is read, %d bytes of it with the head',
  async (some) => {
    const whole = bytesOf('/direct', { body: say });
    const cut = whole.length - Buffer.byteLength(say) + some;
    const socket = connect(Number(new URL(url).port), '127.0.0.1').setNoDelay();
    socket.write(whole.subarray(0, cut));
    // The refusal of another caller shows that the server has read what came before it.
    await sendRaw(bytesOf('/direct', { body: '{"do":"refuse"}' }));
    socket.write(whole.subarray(cut));
    expect(read(await text(socket)).body).toBe('{"said":"hä😀"}');
  },
);

test('a direct route is traced with its status and its caller', async () => {
  server.spans.length = 0;
  await sendRaw(bytesOf('/direct', { body: '{"do":"refuse"}' }));
  const span = await vi.waitFor(() => {
    const [ended] = server.spans;
    if (!ended) throw new Error('no span has ended');
    return ended;
  });
  expect(span).toMatchObject({
    name: 'POST /direct',
    attributes: {
      'http.response.status_code': 409,
      'enduser.id': 'usr_test',
      'error.type': 'is_there',
    },
  });
});

test('a body that comes too slowly is not waited for', async () => {
  const whole = bytesOf('/direct', { body: say });
  expect(await sendRaw(whole.subarray(0, whole.length - 3))).toContain('HTTP/1.1 408');
});

test('a caller who leaves in the middle of a body leaves nothing behind', async () => {
  server.spans.length = 0;
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  const whole = bytesOf('/direct', { body: say });
  socket.write(whole.subarray(0, whole.length - 3), () => setTimeout(() => socket.destroy(), 50));
  await vi.waitFor(() => {
    expect(server.spans[0]?.attributes['http.response.status_code']).toBe(499);
  });
});

test('a server that stops ends the connections of direct routes', async () => {
  const { http, issuer } = await createTestServer(contract);
  http.serve(contract, handlers);
  const stopping = await listenAnywhere(http);
  const ask = async () =>
    fetch(`${stopping}/direct`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${await issuer.sign({ permissions: ['notes:write'] })}`,
        'content-type': 'application/json',
      },
      body: say,
    });
  expect((await ask()).status).toBe(201);
  await http.close(1_000);
  await expect(ask()).rejects.toThrow('fetch failed');
});
