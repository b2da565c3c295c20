import { connect } from 'node:net';
import { Type } from 'typebox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { healthRoute, type Contract } from '../contract.ts';
import { plainEnvelope } from '../envelope.ts';
import { Fault } from '../errors.ts';
import { EventStream } from '../answers/sse.ts';
import { createTestServer, listenAnywhere } from '../testing.ts';
import type { Handlers } from './call.ts';

const Note = Type.Object({ id: Type.String(), text: Type.String() }, { $id: 'Note' });

const contract = {
  name: 'notes',
  title: 'Notes',
  version: '1.2.3',
  description: 'Notes for tests.',
  error: plainEnvelope.schema,
  routes: {
    create: {
      method: 'POST',
      url: '/notes',
      aliases: ['/v2/notes'],
      summary: 'Create a note',
      schema: {
        body: Type.Object({
          text: Type.String({ minLength: 1, maxLength: 100 }),
          tags: Type.Optional(Type.Array(Type.String())),
          mood: Type.Optional(Type.Union([Type.Literal('good'), Type.Literal('bad')])),
        }),
        response: { 201: Note },
      },
    },
    read: {
      method: 'GET',
      url: '/notes/:id',
      summary: 'Read a note',
      permission: ['notes:read', 'notes:write'],
      schema: {
        params: Type.Object({ id: Type.String() }),
        query: Type.Object({ times: Type.Integer({ default: 1, minimum: 1, maximum: 3 }) }),
        response: { 200: Note },
      },
    },
    fail: {
      method: 'GET',
      url: '/fail/:how',
      summary: 'Fail',
      auth: 'none',
      schema: { params: Type.Object({ how: Type.String() }), response: { 200: Note } },
    },
    count: {
      method: 'GET',
      url: '/count/:failAt',
      summary: 'Count in events',
      schema: {
        params: Type.Object({ failAt: Type.Integer() }),
        response: { 200: Note },
        stream: Type.Object({ n: Type.Integer() }),
      },
    },
    health: healthRoute('/health', {}),
  },
  sockets: { feed: { url: '/notes/feed', summary: 'New notes', event: Type.Unknown() } },
} as const satisfies Contract;

const handlers: Handlers<typeof contract> = {
  create: ({ body }) => ({ id: 'n1', text: body.text, secret: 'never leaves' }),
  read: ({ params, query }) => ({ id: params.id, text: 'x'.repeat(query.times) }),
  fail: ({ params }) => {
    if (params.how === 'fault') throw new Fault('conflict', 'twice', { reason: 'is_there' });
    throw new TypeError('a secret of the implementation');
  },
  count: ({ params }) => new EventStream(countTo(params.failAt)),
  health: () => ({ status: 'healthy', version: '1.2.3', uptime: 1 }),
};

async function* countTo(failAt: number) {
  for (let n = 0; n < 5; n += 1) {
    if (n === failAt) throw new Fault('upstream', 'the source broke');
    yield { data: JSON.stringify({ n }) };
  }
  yield { data: '[DONE]' };
}

type Server = Awaited<ReturnType<typeof createTestServer>>;
let server: Server;
let url: string;
let token: string;

beforeAll(async () => {
  server = await createTestServer(contract, { requestTimeoutMs: 1_500 });
  server.http.serve(contract, handlers);
  server.http.serveSockets(contract, { feed: () => {} });
  url = await listenAnywhere(server.http);
  token = await server.issuer.sign({ permissions: ['notes:write'] });
});

afterAll(() => server.http.close(100));

function post(body: string, headers: Record<string, string> = {}) {
  return fetch(`${url}/notes`, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}`, ...headers },
  });
}

async function expectRefusal(answer: Response, status: number, code: string) {
  const body = (await answer.json()) as { error: { code: string; requestId: string } };
  expect({ status: answer.status, code: body.error.code }).toEqual({ status, code });
  expect(body.error.requestId).not.toBe('');
  const health = await fetch(`${url}/health`);
  expect(health.status).toBe(200);
}

describe('bad input is refused in the envelope and leaves the service healthy', () => {
  const bodies: [string, string, number, string][] = [
    ['cut off', '{"text":"a"', 400, 'INVALID_JSON'],
    ['with rubbish behind', '{"text":"a"} x', 400, 'INVALID_JSON'],
    ['of NaN', '{"text":NaN}', 400, 'INVALID_JSON'],
    [
      'nested 10,000 deep',
      `{"text":${'['.repeat(10_000)}${']'.repeat(10_000)}}`,
      400,
      'INVALID_JSON',
    ],
    [
      'that hides depth behind an escaped quote',
      `{"a":"\\\\\\"","b":${'{"c":'.repeat(70)}1${'}'.repeat(70)}}`,
      400,
      'INVALID_JSON',
    ],
    ['with __proto__', '{"text":"a","__proto__":{"admin":true}}', 400, 'INVALID_JSON'],
    [
      'with an escaped __proto__',
      '{"text":"a","\\u005f_proto__":{"admin":true}}',
      400,
      'INVALID_JSON',
    ],
    [
      'with constructor.prototype',
      '{"text":"a","constructor":{"prototype":{}}}',
      400,
      'INVALID_JSON',
    ],
    ['of the wrong type', '{"text":7}', 400, 'VALIDATION_ERROR'],
    ['that is a list', '[1]', 400, 'VALIDATION_ERROR'],
    ['that is null', 'null', 400, 'VALIDATION_ERROR'],
    ['without the field', '{}', 400, 'VALIDATION_ERROR'],
    ['too long in a field', `{"text":"${'a'.repeat(101)}"}`, 400, 'VALIDATION_ERROR'],
    ['of 2 MiB', `{"text":"${'a'.repeat(2 * 1024 * 1024)}"}`, 413, 'TOO_LARGE'],
  ];
  test.each(bodies)('a body %s', async (_name, body, status, code) => {
    await expectRefusal(await post(body), status, code);
  });

  test('a validation error names the field', async () => {
    const body = (await (await post('{"text":"a","tags":["x",1]}')).json()) as {
      error: { message: string; details: { errors: { path: string }[] } };
    };
    expect(body.error.details.errors[0]?.path).toBe('body.tags.1');
    expect(body.error.message).toContain('body.tags.1');
  });

  test('a sender that still writes a body much too large reads why it is refused', async () => {
    const body = `{"text":"${'a'.repeat(9_000_000)}"}`;
    for (let round = 0; round < 10; round += 1) expect((await post(body)).status).toBe(413);
  });

  test('a choice that is none of those names them', async () => {
    const answer = await post('{"text":"a","mood":"ugly"}');
    const message = 'body.mood must be one of "good", "bad"';
    expect(await answer.json()).toMatchObject({ error: { message } });
  });

  test.each(['text/plain', 'multipart/form-data; boundary=x', 'application/xml'])(
    'a body as %s',
    async (type) => {
      await expectRefusal(
        await post('{"text":"a"}', { 'content-type': type }),
        415,
        'UNSUPPORTED_MEDIA_TYPE',
      );
    },
  );

  test('an unknown path', async () => {
    await expectRefusal(await fetch(`${url}/nowhere`), 404, 'NOT_FOUND');
  });

  test('a wrong method, with Allow', async () => {
    const answer = await fetch(`${url}/notes/7`, { method: 'DELETE' });
    expect(answer.headers.get('allow')).toBe('GET, HEAD');
    await expectRefusal(answer, 405, 'METHOD_NOT_ALLOWED');
    const posted = await fetch(`${url}/notes/feed`, { method: 'POST' });
    await expectRefusal(posted, 405, 'METHOD_NOT_ALLOWED');
  });

  test('the path of a WebSocket without its handshake, before any token is looked at', async () => {
    const answer = await fetch(`${url}/notes/feed`);
    expect(answer.headers.get('upgrade')).toBe('websocket');
    await expectRefusal(answer, 426, 'UPGRADE_REQUIRED');
  });

  test('a query that is no number', async () => {
    const headers = { authorization: `Bearer ${token}` };
    await expectRefusal(
      await fetch(`${url}/notes/1?times=abc`, { headers }),
      400,
      'VALIDATION_ERROR',
    );
    for (const text of ['1.5', '1e0', '0x1', '', '%20']) {
      const answer = await fetch(`${url}/notes/1?times=${text}`, { headers });
      await expectRefusal(answer, 400, 'VALIDATION_ERROR');
    }
    await expectRefusal(
      await fetch(`${url}/notes/1?times=9`, { headers }),
      400,
      'VALIDATION_ERROR',
    );
  });

  test('a path that cannot be decoded', async () => {
    const answer = await fetch(`${url}/notes/%ff`, {
      headers: { authorization: `Bearer ${token}` },
    });
    await expectRefusal(answer, 400, 'INVALID_REQUEST');
  });

  test('a million headers', async () => {
    const headers = Array.from({ length: 1_000_000 }, (_, n) => `x-${n}: 1\r\n`).join('');
    const answer = await raw(`GET /health HTTP/1.1\r\nhost: x\r\n${headers}\r\n`);
    expect(answer).toMatch(/^HTTP\/1.1 431 /);
    expect(answer).toContain('"code":"HEADERS_TOO_LARGE"');
    expect((await fetch(`${url}/health`)).status).toBe(200);
  });

  test('a request that is not HTTP', async () => {
    const answer = await raw('\u0016\u0003\u0001 hello\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1.1 400 /);
    expect(answer).toContain('"code":"INVALID_REQUEST"');
  });

  test('a body that comes too slowly', async () => {
    const head = `POST /notes HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\n`;
    const answer = await raw(
      `${head}content-type: application/json\r\ncontent-length: 100\r\n\r\n{`,
    );
    expect(answer).toMatch(/^HTTP\/1.1 408 /);
    expect(answer).toContain('"code":"REQUEST_TIMEOUT"');
  });
});

/** Sends bytes over a bare socket and answers all that comes back. */
function raw(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    let answer = '';
    socket.on('data', (bytes) => (answer += bytes.toString()));
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') reject(error);
    });
    socket.on('close', () => resolve(answer));
    socket.write(text);
  });
}

describe('who may call', () => {
  const refusals: [string, Record<string, string>, string][] = [
    ['no token', {}, 'token_missing'],
    ['another scheme', { authorization: 'Basic YTpi' }, 'header_malformed'],
    ['two spaces', { authorization: 'Bearer  abc.def.ghi' }, 'header_malformed'],
    ['a tab', { authorization: 'Bearer\tabc.def.ghi' }, 'header_malformed'],
    ['rubbish as a token', { authorization: 'Bearer a.b.c' }, 'token_invalid'],
  ];
  test.each(refusals)('a caller with %s gets 401', async (_name, headers, reason) => {
    const answer = await fetch(`${url}/notes/1`, { headers });
    expect(answer.status).toBe(401);
    const challenge = reason === 'token_missing' ? 'Bearer' : 'Bearer error="invalid_token"';
    expect(answer.headers.get('www-authenticate')).toBe(challenge);
    expect(await answer.json()).toMatchObject({ error: { details: { reason } } });
  });

  test('a token in the query is refused', async () => {
    expect((await fetch(`${url}/notes/1?access_token=${token}`)).status).toBe(401);
  });

  test('two Authorization headers are refused', async () => {
    const header = `authorization: Bearer ${token}\r\n`;
    const answer = await raw(
      `GET /notes/1 HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${header}${header}\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1.1 401 /);
  });

  test('a missing permission gives 403 that says what is required and what is held', async () => {
    const poor = await server.issuer.sign({ permissions: ['other:read'] });
    const answer = await fetch(`${url}/notes/1`, { headers: { authorization: `Bearer ${poor}` } });
    expect(answer.status).toBe(403);
    expect(await answer.json()).toMatchObject({
      error: {
        code: 'INSUFFICIENT_PERMISSIONS',
        details: { required: 'notes:read', userPermissions: ['other:read'] },
      },
    });
  });

  test.each([['notes:read'], ['notes:*'], ['*']])(
    'the permission %s lets in',
    async (permission) => {
      const rich = await server.issuer.sign({ permissions: [permission] });
      const answer = await fetch(`${url}/notes/1`, {
        headers: { authorization: `Bearer ${rich}` },
      });
      expect(answer.status).toBe(200);
    },
  );

  test('a revoked token is refused at once although it was verified before', async () => {
    const doomed = await server.issuer.sign({ permissions: ['*'], jti: 'doomed' });
    const call = () => fetch(`${url}/notes/1`, { headers: { authorization: `Bearer ${doomed}` } });
    expect((await call()).status).toBe(200);
    const now = Date.now() / 1000;
    server.issuer.revocations.add({
      kind: 'token',
      id: 'doomed',
      revokedAt: now,
      expiresAt: now + 9e3,
    });
    const answer = await call();
    expect(answer.status).toBe(401);
    expect(await answer.json()).toMatchObject({ error: { details: { reason: 'token_revoked' } } });
  });
});

describe('answers', () => {
  test('hold the fields of the contract and nothing else', async () => {
    const answer = await post('{"text":"a","unknown":1}');
    expect(answer.status).toBe(201);
    expect(await answer.json()).toEqual({ id: 'n1', text: 'a' });
  });

  test('come on every alias, with defaults and conversions of the query', async () => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
    const options = { method: 'POST', body: '{"text":"a"}', headers };
    expect((await fetch(`${url}/v2/notes`, options)).status).toBe(201);
    const read = await fetch(`${url}/notes/7?times=3`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(await read.json()).toEqual({ id: '7', text: 'xxx' });
  });

  test('a fault keeps its words, an error of ours shows none', async () => {
    const fault = await fetch(`${url}/fail/fault`);
    expect(fault.status).toBe(409);
    expect(await fault.json()).toMatchObject({ error: { code: 'IS_THERE', message: 'twice' } });
    const bug = await fetch(`${url}/fail/bug`);
    expect(bug.status).toBe(500);
    expect(await bug.text()).not.toContain('secret');
  });

  test("carry the caller's request id, or one of ours when it is unfit", async () => {
    const given = await fetch(`${url}/health`, { headers: { 'x-request-id': 'abc-1' } });
    expect(given.headers.get('x-request-id')).toBe('abc-1');
    const unfit = await fetch(`${url}/health`, { headers: { 'x-request-id': 'a b<c>' } });
    expect(unfit.headers.get('x-request-id')).toMatch(/^req_[0-9a-f]{16}$/);
  });

  test('name their trace, a refusal too, unless nothing is recorded', async () => {
    const refused = await fetch(`${url}/notes/1`);
    expect(refused.status).toBe(401);
    const traceId = refused.headers.get('x-trace-id');
    expect(server.spans.some((span) => span.traceId === traceId)).toBe(true);
    expect((await fetch(`${url}/health`)).headers.has('x-trace-id')).toBe(false);
    const traceparent = '00-1bf7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00';
    const unsampled = await fetch(`${url}/notes/1`, { headers: { traceparent } });
    expect(unsampled.headers.has('x-trace-id')).toBe(false);
  });

  test("continue the caller's trace and record route, status and caller", async () => {
    const traceId = '0af7651916cd43dd8448eb211c80319c';
    const answer = await fetch(`${url}/notes/1`, {
      headers: {
        authorization: `Bearer ${token}`,
        traceparent: `00-${traceId}-b7ad6b7169203331-01`,
      },
    });
    expect(answer.headers.get('x-trace-id')).toBe(traceId);
    const span = server.spans.find((one) => one.traceId === traceId);
    expect(span).toMatchObject({
      parentSpanId: 'b7ad6b7169203331',
      name: 'GET /notes/:id',
      attributes: { 'http.response.status_code': 200, 'enduser.id': 'usr_test' },
    });
  });
});

describe('streams', () => {
  const read = async (failAt: number) => {
    const headers = { authorization: `Bearer ${token}` };
    const answer = await fetch(`${url}/count/${failAt}`, { headers });
    return { answer, text: await answer.text() };
  };

  test('a source that fails at once gives an ordinary refusal', async () => {
    const { answer, text } = await read(0);
    expect(answer.status).toBe(502);
    expect(text).toContain('"code":"UPSTREAM"');
  });

  test('a source that fails half-way ends with an error event and no [DONE]', async () => {
    const { answer, text } = await read(2);
    expect(answer.status).toBe(200);
    expect(text).toContain('data: {"n":1}');
    expect(text).toContain('"message":"the source broke"');
    expect(text).not.toContain('[DONE]');
  });

  test('a whole stream ends with [DONE]', async () => {
    const { answer, text } = await read(9);
    expect(answer.headers.get('content-type')).toContain('text/event-stream');
    expect(text.trim().endsWith('data: [DONE]')).toBe(true);
  });

  test('a reader who leaves ends the source', async () => {
    let isEnded = false;
    const endless = async function* () {
      try {
        for (;;) yield { data: 'x'.repeat(1000) };
      } finally {
        isEnded = true;
      }
    };
    const other = await createTestServer(contract);
    other.http.serve(contract, { ...handlers, count: () => new EventStream(endless()) });
    const address = await listenAnywhere(other.http);
    const headers = { authorization: `Bearer ${await other.issuer.sign()}` };
    const leaving = new AbortController();
    const answer = await fetch(`${address}/count/1`, { headers, signal: leaving.signal });
    await answer.body?.getReader().read();
    leaving.abort();
    await expect.poll(() => isEnded).toBe(true);
    await other.http.close(100);
  });
});
