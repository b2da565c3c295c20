import {
  Client,
  compressionAlgorithms,
  credentials,
  Metadata,
  status,
  type ServiceError,
} from '@grpc/grpc-js';
import { connect } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Fault } from '../errors.ts';
import { Lifetime } from '../lifecycle.ts';
import { silentLog } from '../testing.ts';
import type { GrpcServerOptions } from './grpc-server.ts';
import type { GrpcCall } from './incoming-call.ts';
import { GrpcRefusal } from './status.ts';
import { jsonFrame, jsonMethod, RawClient, startGrpc } from './testing.ts';

let lifetime: Lifetime;

beforeEach(() => {
  lifetime = new Lifetime(silentLog);
});

afterEach(() => lifetime[Symbol.asyncDispose]());

async function start(options: Partial<GrpcServerOptions<number>> = {}) {
  const ground = lifetime.own('the ground', await startGrpc(options));
  ground.server.addUnary(jsonMethod('Echo'), (request) => request);
  return ground;
}

/** A client of grpc-js whose messages are JSON. */
function openClient(port: number, options: object = {}): JsonClient {
  const client = new JsonClient(`127.0.0.1:${port}`, credentials.createInsecure(), {
    'grpc.use_local_subchannel_pool': 1,
    ...options,
  });
  lifetime.defer('a client', () => client.close());
  return client;
}

const write = (message: object) => Buffer.from(JSON.stringify(message));
const read = (bytes: Buffer) => JSON.parse(bytes.toString()) as object;

interface Outcome {
  readonly code: status;
  readonly details: string;
  readonly metadata: Metadata;
  readonly body: object | undefined;
}

class JsonClient extends Client {
  call(name: string, request: object, { metadata = new Metadata(), deadlineMs = 20_000 } = {}) {
    return new Promise<Outcome>((resolve) => {
      this.makeUnaryRequest(
        jsonMethod(name).path,
        write,
        read,
        request,
        metadata,
        { deadline: Date.now() + deadlineMs },
        (error: ServiceError | null, body) => {
          const { code = status.OK, details = '', metadata: told = new Metadata() } = error ?? {};
          resolve({ code, details, metadata: told, body });
        },
      );
    });
  }

  listen(name: string, request: object) {
    return this.makeServerStreamRequest(jsonMethod(name).path, write, read, request);
  }

  converse(name: string) {
    return this.makeBidiStreamRequest(jsonMethod(name).path, write, read);
  }
}

const ok = { code: status.OK };

test('a client of grpc-js gets its answer, whether it compresses or not', async () => {
  const { port } = await start();
  const plain = openClient(port);
  const request = { text: 'ü'.repeat(10_000) };
  expect(await plain.call('Echo', request)).toMatchObject({ ...ok, body: request });
  for (const algorithm of [compressionAlgorithms.gzip, compressionAlgorithms.deflate]) {
    const client = openClient(port, { 'grpc.default_compression_algorithm': algorithm });
    expect(await client.call('Echo', request)).toMatchObject({ ...ok, body: request });
  }
});

test('a Fault is told with its code and words, anything else that is thrown with none', async () => {
  const { server, port } = await start();
  server.addUnary(jsonMethod('Refuse'), () => {
    throw new Fault('not_found', 'there is no „Büro“: 100 %');
  });
  server.addUnary(jsonMethod('Break'), () => Promise.reject(new Error('the password is hunter2')));
  const client = openClient(port);
  expect(await client.call('Refuse', {})).toMatchObject({
    code: status.NOT_FOUND,
    details: 'there is no „Büro“: 100 %',
  });
  expect(await client.call('Break', {})).toMatchObject({
    code: status.INTERNAL,
    details: 'internal error',
  });
  expect((await client.call('Other', {})).code).toBe(status.UNIMPLEMENTED);
});

test('metadata reach the method, and those of a refusal the client', async () => {
  const { server, port } = await start();
  const seen: unknown[] = [];
  server.addUnary(jsonMethod('Refuse'), (_, call) => {
    seen.push(call.metadata('x-text'), call.metadata('x-some-bin'), call.peer > 0, call.path);
    throw new GrpcRefusal('exhausted', 'no more', { 'x-why-bin': Buffer.from('full') });
  });
  const metadata = new Metadata();
  metadata.set('x-text', 'a');
  metadata.add('x-some-bin', Buffer.of(0, 1));
  metadata.add('x-some-bin', Buffer.of(2));
  const { code, metadata: told } = await openClient(port).call('Refuse', {}, { metadata });
  expect(code).toBe(status.RESOURCE_EXHAUSTED);
  expect(told.get('x-why-bin')).toEqual([Buffer.from('full')]);
  expect(seen).toEqual([['a'], [Buffer.of(0, 1), Buffer.of(2)], true, '/test.Service/Refuse']);
});

test('a deadline and a cancellation call the work off', async () => {
  const { server, port } = await start();
  const calls: GrpcCall<number>[] = [];
  server.addUnary(jsonMethod('Hang'), (_, call) => {
    calls.push(call);
    return new Promise<object>(() => {});
  });
  const client = openClient(port);
  const late = await client.call('Hang', {}, { deadlineMs: 50 });
  expect(late.code).toBe(status.DEADLINE_EXCEEDED);
  await expect.poll(() => calls[0]?.cancellation.isCancelled).toBe(true);
  const { path } = jsonMethod('Hang');
  const call = client.makeUnaryRequest(path, write, read, {}, () => {});
  await expect.poll(() => calls.length).toBe(2);
  call.cancel();
  await expect.poll(() => calls[1]?.cancellation.reason).toMatchObject({ code: 'cancelled' });
});

test('messages and answers that are too large are refused by name', async () => {
  const { server, port } = await start({ requestBytesMax: 1_000, answerBytesMax: 1_000 });
  server.addUnary(jsonMethod('Large'), async () => ({ text: 'x'.repeat(1_000) }));
  const client = openClient(port);
  const exhausted = { code: status.RESOURCE_EXHAUSTED };
  expect(await client.call('Echo', { text: 'x'.repeat(1_000) })).toMatchObject(exhausted);
  expect(await client.call('Large', {})).toMatchObject(exhausted);
  expect(await client.call('Echo', { text: 'x' })).toMatchObject(ok);
});

test('a stream of answers comes in order, and its end says what came of it', async () => {
  const { server, port } = await start();
  server.addServerStream(jsonMethod('Count'), async function* (request) {
    const { to } = request as { to: number };
    for (let number = 0; number < to; number += 1) yield { number };
    if (to > 2) throw new Fault('conflict', 'that is enough');
  });
  const client = openClient(port);
  const listen = (to: number) =>
    new Promise<unknown[]>((resolve) => {
      const seen: unknown[] = [];
      const stream = client.listen('Count', { to });
      stream.on('data', (answer: object) => seen.push(answer));
      stream.on('error', () => {});
      stream.on('status', ({ code }) => resolve([...seen, code]));
    });
  expect(await listen(0)).toEqual([status.OK]);
  expect(await listen(2)).toEqual([{ number: 0 }, { number: 1 }, status.OK]);
  const three = [{ number: 0 }, { number: 1 }, { number: 2 }];
  expect(await listen(3)).toEqual([...three, status.ALREADY_EXISTS]);
});

test('nobody makes answers that nobody reads', async () => {
  const { server, port } = await start();
  let made = 0;
  let end: unknown;
  server.addServerStream(jsonMethod('Endless'), async function* (_, { cancellation }) {
    try {
      for (; !cancellation.isCancelled; made += 1) yield { text: 'x'.repeat(10_000) };
    } finally {
      end = cancellation.reason;
    }
  });
  using client = new RawClient(port);
  const stream = client.request('Endless');
  stream.end(jsonFrame({}));
  await expect.poll(() => made).toBeGreaterThan(5);
  let before = -1;
  await expect
    .poll(() => {
      const isStill = made === before;
      before = made;
      return isStill;
    })
    .toBe(true);
  expect(made).toBeLessThan(100);
  stream.close(8);
  await expect.poll(() => end).toMatchObject({ code: 'cancelled' });
});

test('both sides of a stream may speak as they like', async () => {
  const { server, port } = await start({ requestBytesMax: 100 });
  server.addBidiStream(jsonMethod('Converse'), async function* (requests) {
    yield { text: 'hello' };
    for await (const request of requests) yield request;
    yield { text: 'bye' };
  });
  const client = openClient(port);
  const stream = client.converse('Converse');
  const seen: unknown[] = [];
  stream.on('data', (answer: object) => seen.push(answer));
  const ended = new Promise((resolve) => stream.on('status', ({ code }) => resolve(code)));
  stream.write({ one: 1 });
  stream.write({ two: 2 });
  await expect.poll(() => seen.length).toBe(3);
  stream.end();
  expect(await ended).toBe(status.OK);
  expect(seen).toEqual([{ text: 'hello' }, { one: 1 }, { two: 2 }, { text: 'bye' }]);
  const large = client.converse('Converse');
  large.on('data', () => {});
  large.on('error', () => {});
  const refused = new Promise((resolve) => large.on('status', ({ code }) => resolve(code)));
  large.write({ text: 'x'.repeat(100) });
  expect(await refused).toBe(status.RESOURCE_EXHAUSTED);
});

test('a client that has more calls under way than it may waits with the rest', async () => {
  const { server, port } = await start({ streamsMax: 2 });
  const waiting: (() => void)[] = [];
  server.addUnary(
    jsonMethod('Wait'),
    () => new Promise<object>((resolve) => waiting.push(() => resolve({}))),
  );
  const client = openClient(port);
  await client.call('Echo', {});
  const calls = [1, 2, 3].map(() => client.call('Wait', {}));
  await expect.poll(() => waiting.length).toBe(2);
  waiting[0]?.();
  await expect.poll(() => waiting.length).toBe(3);
  for (const end of waiting) end();
  expect(await Promise.all(calls)).toMatchObject([ok, ok, ok]);
});

test('a server that closes lets running calls end and takes no other', async () => {
  const { server, port } = await start();
  let end = () => {};
  server.addUnary(
    jsonMethod('Wait'),
    () => new Promise<object>((resolve) => (end = () => resolve({ text: 'done' }))),
  );
  using raw = new RawClient(port);
  const goAway = new Promise<number>((resolve) => raw.session.once('goaway', resolve));
  const running = raw.call('Wait', { pieces: [jsonFrame({})] });
  const before = end;
  await expect.poll(() => end !== before).toBe(true);
  const closed = server.close(20_000);
  expect(await goAway).toBe(0);
  end();
  expect((await running).trailers['grpc-status']).toBe('0');
  await closed;
  const refused = await openClient(port).call('Echo', {}, { deadlineMs: 500 });
  expect(refused.code).not.toBe(status.OK);
});

test('a server that closes ends calls that take longer than they may, and says so', async () => {
  const { server, port } = await start();
  let reason: unknown;
  server.addUnary(jsonMethod('Hang'), (_, { cancellation }) => {
    cancellation.onCancel(() => (reason = cancellation.reason));
    void server.close(10);
    return new Promise<object>(() => {});
  });
  const ended = await openClient(port).call('Hang', {});
  expect(ended).toMatchObject({ code: status.UNAVAILABLE, details: 'the server is stopping' });
  expect(reason).toMatchObject({ code: 'unavailable' });
});

test('a server that closes ends streams with a status too', async () => {
  const { server, port } = await start();
  server.addServerStream(jsonMethod('Listen'), async function* (_, { cancellation }) {
    yield { text: 'hello' };
    await new Promise<void>((resolve) => cancellation.onCancel(resolve));
  });
  using raw = new RawClient(port);
  const call = raw.call('Listen', { pieces: [jsonFrame({})] });
  await expect.poll(() => raw.session.state.nextStreamID).toBeGreaterThan(1);
  await server.close(20);
  const { trailers } = await call;
  expect(trailers['grpc-status']).toBe(String(status.UNAVAILABLE));
});

test('connections that grow old are replaced, and no call fails of it', async () => {
  const { server, port } = await start({ connectionMsMax: 150 });
  const peers = new Set<number>();
  server.addUnary(jsonMethod('Note'), async (request, { peer }) => {
    peers.add(peer);
    return request;
  });
  const client = openClient(port);
  const failures: Outcome[] = [];
  const work = async () => {
    while (peers.size < 5) {
      const outcome = await client.call('Note', {});
      if (outcome.code !== status.OK) failures.push(outcome);
    }
  };
  await Promise.all(Array.from({ length: 8 }, work));
  expect(failures).toEqual([]);
});

test('a client that answers no ping is gone, and one that does stays', async () => {
  const { port } = await start({ pingMs: 50 });
  const dead = connect(port, '127.0.0.1');
  dead.on('error', () => {});
  dead.resume();
  // The preface and empty settings (RFC 9113, section 3.4), and then nothing more.
  dead.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
  dead.write(Buffer.of(0, 0, 0, 4, 0, 0, 0, 0, 0));
  using alive = new RawClient(port);
  await new Promise<void>((resolve) => dead.once('close', () => resolve()));
  const answer = await alive.call('Echo', { pieces: [jsonFrame({ text: 'here' })] });
  expect(answer.body).toEqual(jsonFrame({ text: 'here' }));
  expect(alive.session.destroyed).toBe(false);
});
