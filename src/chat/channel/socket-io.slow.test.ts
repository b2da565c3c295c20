import { once } from 'node:events';
import { Agent, get } from 'node:http';
import type { Socket } from 'socket.io-client';
import { afterEach, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { Authenticator } from '../../kit/identity/authenticator.ts';
import { invalidToken } from '../../kit/identity/claims.ts';
import { RateLimiter } from '../../kit/rate-limit.ts';
import { createTestIssuer } from '../../kit/testing.ts';
import type { Turn } from '../turns/turn.ts';
import { connectPlain, connectSocketIo, type SocketIoOptions } from './clients-testing.ts';
import { answerOf, startChannel, type ChannelOptions } from './testing.ts';

const closers: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

async function start(options: ChannelOptions = {}) {
  const channel = await startChannel(options);
  closers.push(() => channel[Symbol.asyncDispose]());
  return channel;
}

async function connect(url: string, options: SocketIoOptions) {
  const client = await connectSocketIo(url, options);
  closers.push(() => client.close());
  return client;
}

/** Why a client's socket ended. */
function disconnected(socket: Socket): Promise<string> {
  return new Promise((resolve) => socket.once('disconnect', resolve));
}

/** What the sockets of a turn's owner are told of its question. */
function questionOf({ ownerId, conversationId = '', createdAtMs }: Turn, content: unknown) {
  const question = { id: 'msg_question', role: 'user', status: 'complete', place: 3 } as const;
  const message = { ...question, conversationId, createdAtMs, content: String(content) };
  return { type: 'message', ownerId, conversationId, message } as const;
}

const transports = ['websocket', 'polling'] as const;

describe.each(transports)('a connection over %s', (transport) => {
  const via = { transports: [transport] };

  test('carries a text of a megabyte, however it is escaped, and tells its sender that too', async () => {
    const { chat, url, issuer } = await start();
    const token = await issuer.sign({ sub: 'usr_long' });
    const client = await connect(url, { token, ...via });
    const { begin } = chat.turns;
    chat.turns.begin = async (request) => {
      const turn = await begin(request);
      chat.tellNews(questionOf(turn, request.messages[0]?.content));
      return turn;
    };
    for (const message of [`x${'\u0001'.repeat(1024 * 1024 - 1)}`, 'y'.repeat(1024 * 1024)]) {
      const outcome = await client.socket.timeout(20_000).emitWithAck('chat_message', { message });
      expect(outcome).toMatchObject({ success: true });
      expect((await client.next('message')).message.content).toBe(message);
    }
  });

  test('takes every credential that the suite knows', async () => {
    const issuer = await createTestIssuer();
    const authenticator = new Authenticator(issuer.verifier, async (apiKey) => {
      if (apiKey !== 'right') throw invalidToken('no such key');
      return { accessToken: await issuer.sign({ sub: 'usr_key' }), expiresIn: 3600 };
    });
    const { url, chat } = await start({ authenticator });
    const token = await issuer.sign({ sub: 'usr_token' });
    const ways: [string, SocketIoOptions][] = [
      ['usr_token', { token }],
      ['usr_key', { token: 'right' }],
      ['usr_token', { headers: { authorization: `Bearer ${token}` } }],
      ['usr_key', { headers: { 'x-api-key': 'right' } }],
      ['usr_token', { query: { access_token: token } }],
      ['usr_token', { headers: { cookie: `session=${token}`, origin: url } }],
      // As browsers ask their own origin by polling.
      ['usr_token', { headers: { cookie: `session=${token}`, 'sec-fetch-site': 'same-origin' } }],
    ];
    for (const [subject, way] of ways) {
      const client = await connect(url, { ...way, ...via });
      await client.socket.emitWithAck('chat_message', { message: 'hi' });
      expect(chat.asked.at(-1)?.caller.identity.subject).toBe(subject);
    }
  });

  test('is refused without a token, with a bad one, and with a cookie from elsewhere', async () => {
    const { url, issuer } = await start();
    const cookie = `session=${await issuer.sign()}`;
    const ways: [string, SocketIoOptions][] = [
      ['INVALID_TOKEN', {}],
      ['INVALID_TOKEN', { token: 'a.b.c' }],
      ['INVALID_TOKEN', { token: 7 as unknown as string }],
      ['INVALID_TOKEN', { headers: { authorization: 'nonsense' } }],
      ['ORIGIN_REFUSED', { headers: { cookie } }],
      ['ORIGIN_REFUSED', { headers: { cookie, origin: 'http://evil.test' } }],
      ['ORIGIN_REFUSED', { headers: { cookie, 'sec-fetch-site': 'cross-site' } }],
    ];
    for (const [code, way] of ways) {
      const refusal = await connect(url, { ...way, ...via }).catch((error: unknown) => error);
      expect(refusal).toMatchObject({
        message: expect.any(String),
        data: { success: false, code, message: expect.any(String) },
      });
    }
  });

  test('counts as a call, and one identity has so many sockets of all kinds', async () => {
    const { url, issuer } = await start({ socketLimits: { perIdentityMax: 2 } });
    const token = await issuer.sign();
    const plain = await connectPlain(url, token);
    const client = await connect(url, { token, ...via });
    await expect(connect(url, { token, ...via })).rejects.toMatchObject({
      data: { code: 'TOO_MANY_SOCKETS' },
    });
    plain.close();
    client.close();
    await expect
      .poll(() =>
        connect(url, { token, ...via }).then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
    const limiter = new RateLimiter({ perMinute: 1, burst: 1 });
    const limited = await start({ limiter });
    const other = await limited.issuer.sign();
    await connect(limited.url, { token: other, ...via });
    await expect(connect(limited.url, { token: other, ...via })).rejects.toMatchObject({
      data: { code: 'RATE_LIMIT_EXCEEDED', limit: 1, retry_after: expect.any(Number) },
    });
  });

  test('ends soon after its token was revoked, for good', async () => {
    const { url, issuer } = await start();
    const client = await connect(url, { token: await issuer.sign({ sid: 'ses_lost' }), ...via });
    const ended = disconnected(client.socket);
    const now = Math.floor(Date.now() / 1000);
    issuer.revocations.add({
      kind: 'session',
      id: 'ses_lost',
      revokedAt: now,
      expiresAt: now + 60,
    });
    expect(await client.next('error')).toMatchObject({ code: 'INVALID_TOKEN' });
    expect(await ended).toBe('io server disconnect');
  });

  test('ends when the service stops, so that its client comes again by itself', async () => {
    const channel = await startChannel();
    const client = await connect(channel.url, { token: await channel.issuer.sign(), ...via });
    const ended = disconnected(client.socket);
    await channel[Symbol.asyncDispose]();
    expect(await ended).toMatch(/^transport (close|error)$/);
  });

  test('answers what is acknowledged', async () => {
    const { url, issuer } = await start();
    const { socket } = await connect(url, { token: await issuer.sign(), ...via });
    const begun = await socket.emitWithAck('chat_message', { message: 'hi' });
    expect(begun).toEqual({
      success: true,
      id: expect.stringMatching(/^trn_/),
      conversation_id: expect.stringMatching(/^cnv_/),
      message_id: expect.stringMatching(/^msg_/),
      model: 'scripted',
    });
    expect(await socket.emitWithAck('resume', { turn_id: begun.id })).toMatchObject({ after: 0 });
    expect(await socket.emitWithAck('stop', { turn_id: begun.id })).toEqual({
      success: true,
      stopped: true,
    });
    expect(await socket.emitWithAck('chat_message', { message: '' })).toMatchObject({
      success: false,
      code: 'VALIDATION_ERROR',
    });
    expect(await socket.emitWithAck('chat_message', { message: 'a\u0000' })).toMatchObject({
      success: false,
      code: 'INVALID_JSON',
    });
    const forged: unknown = JSON.parse('{"message":"a","__proto__":{"stream":false}}');
    expect(await socket.emitWithAck('chat_message', forged)).toMatchObject({
      success: false,
      code: 'INVALID_JSON',
    });
  });
});

test('no event is lost or doubled while a client goes from polling to a WebSocket', async () => {
  const { url, issuer, chat } = await start();
  const token = await issuer.sign({ sub: 'usr_upgrades' });
  const client = await connect(url, { token, transports: ['polling', 'websocket'] });
  const turn = chat.addTurn('usr_upgrades');
  const { engine } = client.socket.io;
  let count = 0;
  while (engine.transport.name === 'polling' || count < 500) {
    count += 1;
    chat.tell(turn, { type: 'delta', content: `${count}` });
    if (count % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  chat.tell(turn, { type: 'delta', content: 'last' });
  await expect.poll(() => client.frames.at(-1)?.data.token).toBe('last');
  expect(client.frames.map(({ data }) => data.seq)).toEqual(
    Array.from({ length: count + 1 }, (_, at) => at + 1),
  );
  expect(engine.transport.name).toBe('websocket');
});

test('an answer as a script is refused, and so is a namespace of no use', async () => {
  const { url, issuer } = await start();
  for (const name of ['j', '%6a']) {
    const script = await fetch(`${url}/socket.io/?EIO=4&transport=polling&${name}=0`);
    expect(script.status).toBe(403);
  }
  await expect(connect(`${url}/other`, { token: await issuer.sign() })).rejects.toThrow(
    'namespace',
  );
});

test('polling is not refused for its media type, nor answered for another origin', async () => {
  const { url } = await start();
  const answer = await fetch(`${url}/socket.io/?EIO=4&transport=polling`, {
    headers: { origin: 'http://elsewhere.test' },
  });
  expect(answer.status).toBe(200);
  expect(answer.headers.get('access-control-allow-origin')).toBe(null);
  const { sid } = JSON.parse((await answer.text()).slice(1)) as { sid: string };
  const body = `4${'x'.repeat(1024 * 1024 + 10)}`;
  const tooLarge = await fetch(`${url}/socket.io/?EIO=4&transport=polling&sid=${sid}`, {
    method: 'POST',
    headers: { 'content-type': 'text/plain' },
    body,
  }).catch(() => ({ status: 413 }));
  expect(tooLarge.status).toBe(413);
  expect((await fetch(`${url}/socket.io/?EIO=4&transport=polling&sid=unknown`)).status).toBe(400);
  expect((await fetch(`${url}/socket.io/socket.io.js`)).status).toBe(404);
});

/** Speaks Engine.IO by hand. */
async function connectRaw(url: string): Promise<WebSocket> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/socket.io/?EIO=4&transport=websocket`);
  closers.push(() => socket.terminate());
  await once(socket, 'message');
  return socket;
}

test('a connection carries one socket, whoever asks for more', async () => {
  const { url, issuer, chat } = await start();
  const socket = await connectRaw(url);
  const texts: string[] = [];
  socket.on('message', (text: Buffer) => texts.push(text.toString()));
  const token = await issuer.sign({ sub: 'usr_twice' });
  for (let count = 0; count < 3; count += 1) socket.send(`40${JSON.stringify({ token })}`);
  await expect.poll(() => texts.length).toBe(3);
  expect(texts.filter((text) => text.startsWith('44')).length).toBe(2);
  const turn = chat.addTurn('usr_twice');
  chat.answer(turn, ['a']);
  await expect.poll(() => texts.filter((text) => text.startsWith('42')).length).toBe(2);
});

test('strangers of one address hold only so many connections, until they say who they are', async () => {
  const { url, issuer } = await start({ socketLimits: { strangersMax: 2 } });
  const token = await issuer.sign();
  const [first, second] = [await connectRaw(url), await connectRaw(url)];
  const refused = new WebSocket(
    `${url.replace('http', 'ws')}/socket.io/?EIO=4&transport=websocket`,
  );
  await expect(once(refused, 'open')).rejects.toThrow('429');
  const polling = await fetch(`${url}/socket.io/?EIO=4&transport=polling`);
  expect(polling.status).toBe(429);
  expect(await polling.json()).toMatchObject({ success: false, code: 'TOO_MANY_SOCKETS' });
  first.send(`40${JSON.stringify({ token })}`);
  await once(first, 'message');
  await connectRaw(url);
  second.terminate();
  await expect
    .poll(() =>
      connectRaw(url).then(
        () => true,
        () => false,
      ),
    )
    .toBe(true);
});

test('who does not say in time who they are gives the place back, also one that never polls', async () => {
  const { url } = await start({ introductionMs: 100, socketLimits: { strangersMax: 2 } });
  const agent = new Agent({ keepAlive: true });
  closers.push(() => agent.destroy());
  const begin = () =>
    new Promise<number | undefined>((resolve, reject) => {
      const address = `${url}/socket.io/?EIO=4&transport=polling`;
      get(address, { agent }, (response) => {
        response.resume().once('end', () => resolve(response.statusCode));
      }).once('error', reject);
    });
  expect([await begin(), await begin(), await begin()]).toEqual([200, 200, 429]);
  await expect.poll(begin, { timeout: 5_000 }).toBe(200);
  await expect
    .poll(() =>
      connectRaw(url)
        .then(() => true)
        .catch(() => false),
    )
    .toBe(true);
});

test('over a WebSocket it is closed with 4401', async () => {
  const { url } = await start({ introductionMs: 100 });
  const [code, reason] = (await once(await connectRaw(url), 'close')) as [number, Buffer];
  expect([code, reason.toString()]).toEqual([4401, 'no token came in time']);
});

test('a client that sends without end and without waiting is cut off', async () => {
  const { url, issuer, chat } = await start();
  const { socket } = await connect(url, { token: await issuer.sign() });
  chat.script = answerOf(['a']);
  const ended = disconnected(socket);
  for (let count = 0; count < 1_000; count += 1) socket.emit('chat_message', { message: 'x' });
  expect(await ended).toBe('io server disconnect');
});
