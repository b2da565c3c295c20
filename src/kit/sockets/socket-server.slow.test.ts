import { EventEmitter, once } from 'node:events';
import { request as sendRequest } from 'node:http';
import { connect } from 'node:net';
import { Type } from 'typebox';
import { afterEach, describe, expect, test } from 'vitest';
import type { Contract } from '../contract.ts';
import { plainEnvelope } from '../envelope.ts';
import { Fault } from '../errors.ts';
import type { HttpOptions } from '../http/server.ts';
import { Authenticator } from '../identity/authenticator.ts';
import { invalidToken } from '../identity/claims.ts';
import { RateLimiter } from '../rate-limit.ts';
import { createTestIssuer, createTestServer, listenAnywhere, type TestIssuer } from '../testing.ts';
import type { Connection } from './connection.ts';
import { TestClient } from './testing.ts';

const contract = {
  name: 'echo',
  title: 'Echo',
  version: '1.0.0',
  description: 'Says everything again.',
  error: plainEnvelope.schema,
  acceptsSessionCookie: true,
  routes: {
    greeting: {
      method: 'POST',
      url: '/greeting',
      summary: 'Greet',
      auth: 'none',
      schema: {
        body: Type.Object({ name: Type.String() }),
        response: { 200: Type.Object({ text: Type.String() }) },
      },
    },
  },
  sockets: {
    room: { url: '/rooms/:roomId/stream', summary: 'A room', event: Type.Unknown() },
    secret: { url: '/secret', summary: 'A secret', permission: 'echo:spy', event: Type.Unknown() },
  },
} as const satisfies Contract;

type Serve = (connection: Connection<(typeof contract)['sockets']['room']>) => void;

const path = '/rooms/a%20b/stream';
const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

interface Start extends Partial<HttpOptions> {
  readonly serve?: Serve;
  readonly admit?: () => void;
}

async function start({ serve = () => {}, admit = () => {}, ...options }: Start = {}) {
  const server = await createTestServer(contract, options);
  const { http, issuer } = server;
  http.serve(contract, { greeting: ({ body }) => ({ text: `hello ${body.name}` }) });
  http.serveSockets(contract, { room: { admit, serve }, secret: () => {} });
  const url = await listenAnywhere(http);
  closers.push(() => http.close(1_000));
  return { ...server, url, headers: await bearer(issuer) };
}

async function bearer(issuer: TestIssuer, claims = {}): Promise<Record<string, string>> {
  return { authorization: `Bearer ${await issuer.sign(claims)}` };
}

function errorBody(code: string) {
  return { error: { code, message: expect.any(String), requestId: expect.any(String) } };
}

describe('a handshake', () => {
  test('without a token or with a bad one is refused with 401 in the envelope', async () => {
    const { url } = await start();
    const clients = [{}, { authorization: 'Bearer a.b.c' }, { authorization: 'nonsense' }].map(
      (headers) => new TestClient(url + path, { headers }),
    );
    for (const [at, client] of clients.entries()) {
      const { status, headers, body } = await client.refused();
      expect(status).toBe(401);
      const challenge = at === 0 ? 'Bearer' : 'Bearer error="invalid_token"';
      expect(headers['www-authenticate']).toBe(challenge);
      expect(body).toMatchObject(errorBody('INVALID_TOKEN'));
    }
  });

  test('on an unknown path is refused with 404, before any token is looked at', async () => {
    const { url } = await start();
    for (const wrong of ['/nowhere', '/rooms//stream', '/rooms/%E0%A4%A/stream', '/greeting']) {
      const { status, body } = await new TestClient(url + wrong).refused();
      expect(status, wrong).toBe(404);
      expect(body).toMatchObject(errorBody('NOT_FOUND'));
    }
  });

  test('without the permission of the path is refused with 403', async () => {
    const { url, issuer, headers } = await start();
    const refused = await new TestClient(`${url}/secret`, { headers }).refused();
    expect(refused).toMatchObject({ status: 403, body: errorBody('INSUFFICIENT_PERMISSIONS') });
    const allowed = await bearer(issuer, { permissions: ['echo:spy'] });
    await new TestClient(`${url}/secret`, { headers: allowed }).opened();
  });

  test('that the service does not admit is refused with its reason', async () => {
    const { url, headers } = await start({
      admit: () => {
        throw new Fault('not_found', 'there is no such room');
      },
    });
    const refused = await new TestClient(url + path, { headers }).refused();
    expect(refused).toMatchObject({ status: 404, body: errorBody('NOT_FOUND') });
  });

  test('beyond the rate limit is refused with 429 and the time to wait', async () => {
    const limiter = new RateLimiter({ perMinute: 1, burst: 1 });
    const { url, headers } = await start({ limiter });
    await new TestClient(url + path, { headers }).opened();
    const refused = await new TestClient(url + path, { headers }).refused();
    expect(refused).toMatchObject({ status: 429, body: errorBody('RATE_LIMIT_EXCEEDED') });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  });

  test('that is no WebSocket handshake is refused with 400 in the envelope', async () => {
    const { url, headers } = await start();
    const broken = { ...headers, connection: 'upgrade', upgrade: 'websocket' };
    const [response] = await once(sendRequest(url + path, { headers: broken }).end(), 'response');
    expect(response.statusCode).toBe(400);
    let text = '';
    for await (const chunk of response) text += chunk;
    expect(JSON.parse(text)).toMatchObject(errorBody('INVALID'));
  });

  test('takes the token from the query and keeps it from the service', async () => {
    const query: string[] = [];
    const serve: Serve = (connection) => void query.push(connection.query.toString());
    const { url, issuer } = await start({ serve });
    const token = await issuer.sign();
    await new TestClient(`${url}${path}?a=1&access_token=${token}&b=2`).opened();
    expect(query).toEqual(['a=1&b=2']);
  });

  test('takes an API key, and refuses one that the issuer does not know', async () => {
    const issuer = await createTestIssuer();
    const authenticator = new Authenticator(issuer.verifier, async (apiKey) => {
      if (apiKey !== 'right') throw invalidToken('no such key');
      return { accessToken: await issuer.sign(), expiresIn: 3600 };
    });
    const { url } = await start({ authenticator });
    const wrong = new TestClient(url + path, { headers: { 'x-api-key': 'wrong' } });
    expect(await wrong.refused()).toMatchObject({ status: 401 });
    await new TestClient(url + path, { headers: { 'x-api-key': 'right' } }).opened();
  });

  test('takes the session cookie from the service’s own origin only', async () => {
    const { url, issuer } = await start();
    const cookie = `session=${await issuer.sign()}`;
    for (const origin of [undefined, 'http://evil.test']) {
      const client = new TestClient(url + path, { headers: { cookie }, ...(origin && { origin }) });
      expect(await client.refused()).toMatchObject({ status: 403 });
    }
    await new TestClient(url + path, { headers: { cookie }, origin: url }).opened();
  });

  test('leaves a span of its own with the status', async () => {
    const { url, headers, spans } = await start();
    await new TestClient(`${url}/nowhere`).refused();
    await new TestClient(url + path).refused();
    await new TestClient(url + path, { headers }).opened();
    const statuses = spans.map(({ attributes }) => attributes['http.response.status_code']);
    expect(statuses).toEqual([401, 101]);
    expect(spans[0]?.name).toBe('GET /rooms/:roomId/stream');
  });
});

describe('an upgrade that is not ours', () => {
  test('to HTTP/2 is ignored: the request is answered in HTTP/1.1, its body included', async () => {
    const { url } = await start();
    const headers = {
      connection: 'Upgrade, HTTP2-Settings',
      upgrade: 'h2c',
      'http2-settings': 'AAEAAEAA',
      'content-type': 'application/json',
    };
    for (const name of ['Ada', 'x'.repeat(100_000)]) {
      const request = sendRequest(`${url}/greeting`, { method: 'POST', headers });
      const [response] = await once(request.end(JSON.stringify({ name })), 'response');
      let text = '';
      for await (const chunk of response) text += chunk;
      expect(JSON.parse(text)).toEqual({ text: `hello ${name}` });
    }
  });

  test('on a reserved path goes to its own handler, without a token', async () => {
    const { url, http } = await start();
    http.sockets.reserve('/other', ({ socket }) => socket.end('HTTP/1.1 418 Teapot\r\n\r\n'));
    for (const other of ['/other', '/other/below?x=1']) {
      const client = new TestClient(url + other);
      const [, response] = await once(client.socket, 'unexpected-response');
      expect(response.statusCode).toBe(418);
    }
    expect(await new TestClient(`${url}/others`).refused()).toMatchObject({ status: 404 });
  });
});

describe('an open socket', () => {
  test('knows who calls, where and how', async () => {
    const seen: unknown[] = [];
    const serve: Serve = ({ params: { roomId }, identity, origin, requestId }) => {
      seen.push([roomId, identity.subject, origin.ip, requestId]);
    };
    const { url, headers } = await start({ serve });
    const all = { ...headers, 'x-request-id': 'req-7' };
    await new TestClient(url + path, { headers: all }).opened();
    expect(seen).toEqual([['a b', 'usr_test', '127.0.0.1', 'req-7']]);
  });

  test('is one of at most so many per identity; a closed one makes room', async () => {
    const { url, headers, issuer } = await start({ socketLimits: { perIdentityMax: 2 } });
    const open = () => new TestClient(url + path, { headers });
    const first = await open().opened();
    await open().opened();
    expect(await open().refused()).toMatchObject({
      status: 429,
      body: errorBody('TOO_MANY_SOCKETS'),
    });
    const other = await bearer(issuer, { sub: 'usr_other' });
    await new TestClient(url + path, { headers: other }).opened();
    first.socket.close();
    await first.closed();
    await open().opened();
  });

  test('closes with 1009 on a message that is too large', async () => {
    const { url, headers } = await start();
    const client = await new TestClient(url + path, { headers }).opened();
    client.socket.send('x'.repeat(1024 * 1024 + 1));
    expect(await client.closed()).toMatchObject({ code: 1009 });
  });

  test('closes with 1003 on a binary message', async () => {
    const { url, headers } = await start();
    const client = await new TestClient(url + path, { headers }).opened();
    client.socket.send(Buffer.from('{}'));
    expect(await client.closed()).toMatchObject({ code: 1003 });
  });

  test('closes with 1008 soon after its token was revoked', async () => {
    const { url, issuer } = await start();
    const headers = await bearer(issuer, { sid: 'ses_lost' });
    const client = await new TestClient(url + path, { headers }).opened();
    const now = Math.floor(Date.now() / 1000);
    issuer.revocations.add({
      kind: 'session',
      id: 'ses_lost',
      revokedAt: now,
      expiresAt: now + 3600,
    });
    expect(await client.closed()).toMatchObject({ code: 1008 });
  });

  test('is dropped when its peer no longer answers, and kept when it does', async () => {
    const { url, headers } = await start({ socketLimits: { pingMs: 20 } });
    const live = await new TestClient(url + path, { headers }).opened();
    const dead = await new TestClient(url + path, { headers, autoPong: false }).opened();
    expect(await dead.closed()).toMatchObject({ code: 1006 });
    await once(live.socket, 'ping');
    await once(live.socket, 'ping');
    expect(live.socket.readyState).toBe(live.socket.OPEN);
  });

  test('closes with 1001 when the server stops, which does not wait for a silent peer', async () => {
    const { url, headers, http } = await start();
    const polite = await new TestClient(url + path, { headers }).opened();
    const silent = await new TestClient(url + path, { headers }).opened();
    silent.socket.pause();
    await http.close(50);
    expect(await polite.closed()).toMatchObject({ code: 1001 });
    silent.socket.resume();
    await silent.closed();
  });

  test('closes with 1011 when its handler fails, which harms nobody else', async () => {
    let count = 0;
    const serve: Serve = () => {
      count += 1;
      if (count === 1) throw new Error('broken');
    };
    const { url, headers } = await start({ serve });
    const client = await new TestClient(url + path, { headers }).opened();
    expect(await client.next()).toMatchObject({ type: 'error', ...errorBody('INTERNAL') });
    expect(await client.closed()).toMatchObject({ code: 1011 });
    await new TestClient(url + path, { headers }).opened();
  });
});

test('a handshake that waits when the server stops is refused with 503', async () => {
  const issuer = await createTestIssuer();
  const token = await issuer.sign();
  const exchange = new EventEmitter();
  const authenticator = new Authenticator(issuer.verifier, async () => {
    exchange.emit('asked');
    await once(exchange, 'answered');
    return { accessToken: token, expiresIn: 3600 };
  });
  const { url, http } = await start({ authenticator });
  const client = new TestClient(url + path, { headers: { 'x-api-key': 'slow' } });
  const refusal = client.refused();
  await once(exchange, 'asked');
  const closing = http.close(1_000);
  exchange.emit('answered');
  expect(await refusal).toMatchObject({ status: 503, body: errorBody('UNAVAILABLE') });
  await closing;
});

test('a peer that resets during its handshake harms nobody', async () => {
  const { url, headers } = await start();
  const { port, hostname } = new URL(url);
  const raw = connect(Number(port), hostname);
  await once(raw, 'connect');
  raw.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`);
  raw.resetAndDestroy();
  await new TestClient(url + path, { headers }).opened();
});
