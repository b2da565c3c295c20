import { connect } from 'node:net';
import { once } from 'node:events';
import { Type } from 'typebox';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Contract } from '../contract.ts';
import { plainEnvelope } from '../envelope.ts';
import type { HttpOptions } from '../http/server.ts';
import { RateLimiter } from '../rate-limit.ts';
import { createTestServer, listenAnywhere } from '../testing.ts';
import type { Connection } from './connection.ts';
import { TestClient } from './testing.ts';

const contract = {
  name: 'echo',
  title: 'Echo',
  version: '1.0.0',
  description: 'Says everything again.',
  error: plainEnvelope.schema,
  acceptsSessionCookie: true,
  routes: {},
  sockets: {
    open: { url: '/', summary: 'Who comes says who it is', authFrame: true, event: Type.Unknown() },
    spy: {
      url: '/spy',
      summary: 'For spies',
      authFrame: true,
      permission: 'echo:spy',
      messageBytesMax: 4 * 1024 * 1024,
      event: Type.Unknown(),
    },
  },
} as const satisfies Contract;

const closers: (() => Promise<void>)[] = [];
/** For whoever needs nothing special. */
let shared: Awaited<ReturnType<typeof start>>;
let closeShared: (() => Promise<void>) | undefined;

beforeAll(async () => {
  shared = await start();
  closeShared = closers.pop();
});

afterAll(() => closeShared?.());

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** Says every message again, with the name of who sent it. */
function echo(connection: Connection): void {
  connection.onMessage(async (text) => {
    await new Promise((resolve) => setImmediate(resolve));
    connection.send({ from: connection.identity.subject, text, token: connection.credential });
  });
}

async function start(options: Partial<HttpOptions> = {}) {
  const server = await createTestServer(contract, options);
  server.http.serveSockets(contract, { open: echo, spy: echo });
  const url = await listenAnywhere(server.http);
  closers.push(() => server.http.close(500));
  return { ...server, url };
}

test('a token that is shown and no good is refused with 401 all the same', async () => {
  const { url } = shared;
  for (const headers of [
    { authorization: 'Bearer a.b.c' },
    { 'x-api-key': '', authorization: 'x' },
  ]) {
    expect(await new TestClient(url, { headers }).refused()).toMatchObject({ status: 401 });
  }
  const foreign = new TestClient(url, { headers: { cookie: 'session=a.b.c' } });
  expect(await foreign.refused()).toMatchObject({ status: 403 });
});

test('a token in the handshake needs no frame', async () => {
  const { url, issuer } = shared;
  const token = await issuer.sign();
  const client = await new TestClient(`${url}?access_token=${token}`).opened();
  client.send('a');
  expect(await client.next()).toEqual({ from: 'usr_test', text: '"a"', token });
});

test.each([
  ['nonsense', 'no JSON'],
  ['{"event":"chat_message"}', 'no token'],
  ['{"auth":{"token":""}}', 'an empty token'],
  ['{"auth":{"token":"a.b.c"}}', 'a bad token'],
])('a first frame of %s closes with 4401', async (text) => {
  const { url } = shared;
  const client = await new TestClient(url).opened();
  client.socket.send(text);
  client.send('never handled');
  expect(await client.closed()).toMatchObject({ code: 4401, reason: expect.stringMatching(/\w/) });
});

test('a binary first frame closes with 1003', async () => {
  const { url } = shared;
  const client = await new TestClient(url).opened();
  client.socket.send(Buffer.from('{}'));
  expect(await client.closed()).toMatchObject({ code: 1003 });
});

test('who says nothing is closed with 4401 when the time is over, and told nothing before', async () => {
  const { url } = await start({ socketLimits: { authFrameMs: 30 } });
  const client = await new TestClient(url).opened();
  const told: unknown[] = [];
  client.socket.on('message', (message) => told.push(message));
  expect(await client.closed()).toEqual({ code: 4401, reason: 'no token came in time' });
  expect(told).toEqual([]);
});

test('a route may take larger messages, but not of somebody who is not known', async () => {
  const { url, issuer } = shared;
  const text = 'x'.repeat(2 * 1024 * 1024);
  const stranger = await new TestClient(`${url}/spy`).opened();
  stranger.send(text);
  expect(await stranger.closed()).toMatchObject({ code: 1006 });
  const spy = await new TestClient(`${url}/spy`).opened();
  spy.send({ auth: { token: await issuer.sign({ permissions: ['echo:spy'] }) } });
  spy.send('known');
  await spy.next();
  spy.send(text);
  expect(await spy.next()).toMatchObject({ text: JSON.stringify(text) });
});

test('who may not in is closed with 4403', async () => {
  const { url, issuer } = shared;
  const client = await new TestClient(`${url}/spy`).opened();
  client.send({ auth: { token: await issuer.sign() } });
  expect(await client.closed()).toMatchObject({ code: 4403 });
  const spy = await new TestClient(`${url}/spy`).opened();
  spy.send({ auth: { token: await issuer.sign({ permissions: ['echo:spy'] }) } });
  spy.send('a');
  expect(await spy.next()).toMatchObject({ text: '"a"' });
});

test('frames that come with the token are handled behind it, in their order', async () => {
  const { url, issuer } = shared;
  const token = await issuer.sign();
  const client = await new TestClient(url).opened();
  client.send({ auth: { token } });
  for (const text of ['a', 'b', 'c']) client.send(text);
  expect(await client.take(3)).toEqual(
    ['a', 'b', 'c'].map((text) => ({ from: 'usr_test', text: JSON.stringify(text), token })),
  );
});

test('a socket counts for its identity from then on, and for its address before', async () => {
  const { url, issuer } = await start({ socketLimits: { perIdentityMax: 1, strangersMax: 2 } });
  const auth = { auth: { token: await issuer.sign() } };
  const [one, two] = [await new TestClient(url).opened(), await new TestClient(url).opened()];
  expect(await new TestClient(url).refused()).toMatchObject({ status: 429 });
  one.send(auth);
  one.send('a');
  await one.next();
  two.send(auth);
  expect(await two.closed()).toMatchObject({ code: 4429 });
  one.socket.close();
  await one.closed();
  const three = await new TestClient(url).opened();
  three.send(auth);
  three.send('b');
  expect(await three.next()).toMatchObject({ text: '"b"' });
});

test('a handshake without a token spends a call of its address', async () => {
  const { url } = await start({ limiter: new RateLimiter({ perMinute: 1, burst: 1 }) });
  await new TestClient(url).opened();
  expect(await new TestClient(url).refused()).toMatchObject({ status: 429 });
});

test('a token that is revoked later closes with 1008', async () => {
  const { url, issuer } = shared;
  const client = await new TestClient(url).opened();
  client.send({ auth: { token: await issuer.sign({ sid: 'ses_lost' }) } });
  client.send('a');
  await client.next();
  const now = Math.floor(Date.now() / 1000);
  issuer.revocations.add({ kind: 'session', id: 'ses_lost', revokedAt: now, expiresAt: now + 60 });
  expect(await client.closed()).toMatchObject({ code: 1008 });
});

test('who has not said who they are is closed with 1001 when the server stops', async () => {
  const { url, http } = await start();
  const client = await new TestClient(url).opened();
  await http.close(500);
  expect(await client.closed()).toMatchObject({ code: 1001 });
});

test('a peer that resets while it is let in harms nobody', async () => {
  const { url, issuer } = shared;
  const { port, hostname } = new URL(url);
  const raw = connect(Number(port), hostname);
  await once(raw, 'connect');
  raw.write(
    'GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
  );
  await once(raw, 'data');
  raw.resetAndDestroy();
  const client = await new TestClient(url).opened();
  client.send({ auth: { token: await issuer.sign() } });
  client.send('a');
  expect(await client.next()).toMatchObject({ text: '"a"' });
});
