// The rules of grpc/grpc, doc/PROTOCOL-HTTP2.md, as a client sees them that keeps none of its own.
import { constants } from 'node:http2';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { Fault } from '../errors.ts';
import type { GrpcCall } from './incoming-call.ts';
import { GrpcRefusal } from './status.ts';
import { jsonFrame, jsonMethod, RawClient, startGrpc } from './testing.ts';

let ground: Awaited<ReturnType<typeof startGrpc>>;
let client: RawClient;
let calls: GrpcCall<number>[];

const hello = jsonFrame({ text: 'hello' });
const status = {
  ok: '0',
  deadline: '4',
  notFound: '5',
  exhausted: '8',
  unimplemented: '12',
  internal: '13',
};

beforeAll(async () => {
  ground = await startGrpc({ clientMsMax: 150 });
  const { server } = ground;
  server.addUnary(jsonMethod('Echo'), (request, call) => {
    calls.push(call);
    return request;
  });
  server.addUnary(jsonMethod('Later'), async (request) => request);
  server.addUnary(jsonMethod('Hang'), (_, call) => {
    calls.push(call);
    return new Promise<object>(() => {});
  });
  server.addUnary(jsonMethod('Refuse'), () => {
    throw new Fault('not_found', '50 % of "ü"\n are not here');
  });
  server.addUnary(jsonMethod('Large'), () => ({ text: 'x'.repeat(70_000) }));
  server.addUnary(jsonMethod('Marked'), async () => {
    throw new GrpcRefusal('exhausted', 'no more', {
      'x-why': 'fü\nl',
      'x-more-bin': Buffer.of(0, 255),
    });
  });
});

beforeEach(() => {
  calls = [];
  client = new RawClient(ground.port);
  return () => client[Symbol.dispose]();
});

afterAll(() => ground[Symbol.asyncDispose]());

test('what is no gRPC is refused as HTTP has it', async () => {
  const answer = async (headers: Record<string, string>) =>
    (await client.call('Echo', { headers, pieces: [hello] })).headers[':status'];
  expect(await answer({ 'content-type': 'application/json' })).toBe(415);
  expect(await answer({ 'content-type': 'application/grpc-web' })).toBe(415);
  expect(await answer({ 'content-type': 'application/grpc+json' })).toBe(415);
  expect(await answer({ ':method': 'PUT' })).toBe(405);
  expect(await answer({ 'content-type': 'application/grpc+proto' })).toBe(200);
  expect(await answer({ 'content-type': 'application/grpc;charset=utf-8' })).toBe(200);
});

test('a method that there is not is not implemented', async () => {
  const { headers, body } = await client.call('Other', { pieces: [hello] });
  expect(headers).toMatchObject({ ':status': 200, 'grpc-status': status.unimplemented });
  expect(body).toHaveLength(0);
});

test('a refusal comes in one block of headers, its words escaped', async () => {
  const { headers, trailers } = await client.call('Refuse', { pieces: [hello] });
  expect(headers).toMatchObject({
    ':status': 200,
    'content-type': 'application/grpc',
    'grpc-status': status.notFound,
    'grpc-message': '50 %25 of "%C3%BC"%0A are not here',
  });
  expect(trailers).toEqual({});
});

test('what goes with a refusal is text, or bytes in base64 without padding', async () => {
  const { headers } = await client.call('Marked', { pieces: [hello] });
  expect(headers).toMatchObject({
    'grpc-status': status.exhausted,
    'x-why': 'f??l',
    'x-more-bin': 'AP8',
  });
});

test('an answer is a message, and its status comes behind it', async () => {
  for (const name of ['Echo', 'Later']) {
    const { headers, trailers, body } = await client.call(name, { pieces: [hello] });
    expect(headers).toMatchObject({ ':status': 200, 'content-type': 'application/grpc' });
    expect(body).toEqual(hello);
    expect(trailers).toMatchObject({ 'grpc-status': status.ok });
  }
});

test('a message may come in any pieces', async () => {
  const bytes = Array.from(hello, (byte) => Buffer.of(byte));
  expect((await client.call('Echo', { pieces: bytes })).body).toEqual(hello);
  const halves = [hello.subarray(0, 3), hello.subarray(3, 9), hello.subarray(9)];
  expect((await client.call('Echo', { pieces: halves })).body).toEqual(hello);
});

test('a method that takes one message takes neither none nor two', async () => {
  for (const pieces of [[], [hello, hello]]) {
    const { headers } = await client.call('Echo', { pieces });
    expect(headers['grpc-status']).toBe(status.unimplemented);
  }
  expect(calls).toEqual([]);
});

test('a message that is cut off, is none or cannot be read is refused', async () => {
  const bodies = [hello.subarray(0, 4), hello.subarray(0, -1), Buffer.of(7, 0, 0, 0, 0)];
  for (const body of [...bodies, Buffer.of(0, 0, 0, 0, 1, 0x7b)]) {
    const { headers } = await client.call('Echo', { pieces: [body] });
    expect(headers['grpc-status']).toBe(status.internal);
  }
  expect(calls).toEqual([]);
});

test('a message that says it is too large is refused before it comes, and the rest is not wanted', async () => {
  const head = Buffer.of(0, 0, 1, 0, 1);
  const { headers, rstCode } = await client.call('Echo', { pieces: [head], isOpen: true });
  expect(headers['grpc-status']).toBe(status.exhausted);
  expect(rstCode).toBe(constants.NGHTTP2_NO_ERROR);
});

test('an answer that is too large is not sent', async () => {
  const { headers, body } = await client.call('Large', { pieces: [hello] });
  expect(headers['grpc-status']).toBe(status.exhausted);
  expect(body).toHaveLength(0);
});

/** A message that says it is compressed, whatever it is. */
function compressed(bytes: Buffer): Buffer {
  const frame = Buffer.alloc(5 + bytes.length);
  frame[0] = 1;
  frame.writeUInt32BE(bytes.length, 1);
  bytes.copy(frame, 5);
  return frame;
}

test('a compressed message is inflated, and no further than any other may be large', async () => {
  const send = (encoding: string | undefined, message: Buffer) =>
    client.call('Echo', {
      headers: encoding === undefined ? {} : { 'grpc-encoding': encoding },
      pieces: [message],
    });
  const small = compressed(gzipSync(JSON.stringify({ text: 'hello' })));
  expect((await send('gzip', small)).body).toEqual(hello);
  const bomb = compressed(gzipSync(Buffer.alloc(10_000_000, 0x20)));
  expect((await send('gzip', bomb)).headers['grpc-status']).toBe(status.exhausted);
  const broken = await send('gzip', compressed(Buffer.from('not gzip')));
  expect(broken.headers['grpc-status']).toBe(status.internal);
  expect((await send('identity', hello)).body).toEqual(hello);
  expect((await send('gzip', hello)).body).toEqual(hello);
});

test('a message that does not say how it is compressed is refused', async () => {
  const message = compressed(gzipSync('{}'));
  for (const headers of [{}, { 'grpc-encoding': 'identity' }]) {
    const answer = await client.call('Echo', { headers, pieces: [message] });
    expect(answer.headers['grpc-status']).toBe(status.internal);
  }
});

test('an encoding that is not known is refused with those that are', async () => {
  const headers = { 'grpc-encoding': 'snappy' };
  const answer = await client.call('Echo', { headers, pieces: [hello] });
  expect(answer.headers).toMatchObject({
    'grpc-status': status.unimplemented,
    'grpc-accept-encoding': 'identity,gzip,deflate',
  });
});

test('binary headers are read with and without padding, and each of several', async () => {
  const headers = { 'x-some-bin': 'AP8=,AP8, Zg', 'x-text': 'a, b' };
  await client.call('Echo', { headers, pieces: [hello] });
  const [call] = calls;
  expect(call?.metadata('x-some-bin')).toEqual([
    Buffer.of(0, 255),
    Buffer.of(0, 255),
    Buffer.from('f'),
  ]);
  expect(call?.metadata('x-text')).toEqual(['a, b']);
  expect(call?.metadata('x-none')).toEqual([]);
});

test('a deadline ends the call, and its work is called off', async () => {
  for (const timeout of ['20m', '20000u', '20000000n']) {
    const headers = { 'grpc-timeout': timeout };
    const answer = await client.call('Hang', { headers, pieces: [hello] });
    expect(answer.headers['grpc-status']).toBe(status.deadline);
    expect(calls.at(-1)?.cancellation.reason).toMatchObject({ code: 'deadline' });
  }
});

test('a deadline holds for a request that never ends', async () => {
  const headers = { 'grpc-timeout': '20m' };
  const answer = await client.call('Echo', { headers, pieces: [hello], isOpen: true });
  expect(answer.headers['grpc-status']).toBe(status.deadline);
});

test('a deadline that is far away, or none, is no hindrance; one that cannot be read is refused', async () => {
  for (const timeout of ['99999999H', '1M', '8S']) {
    const answer = await client.call('Echo', {
      headers: { 'grpc-timeout': timeout },
      pieces: [hello],
    });
    expect(answer.trailers['grpc-status']).toBe(status.ok);
  }
  for (const timeout of ['1', '1 S', '-1S', '123456789S', '1s', '']) {
    const answer = await client.call('Echo', {
      headers: { 'grpc-timeout': timeout },
      pieces: [hello],
    });
    expect([timeout, answer.headers['grpc-status']]).toEqual([timeout, status.internal]);
  }
});

test('a request that trickles in is ended though it names no deadline', async () => {
  const answer = await client.call('Echo', { pieces: [hello.subarray(0, 6)], isOpen: true });
  expect(answer.headers['grpc-status']).toBe(status.deadline);
});

test('a reset is a cancellation, and so is a lost connection', async () => {
  const begin = () => {
    const stream = client.request('Hang');
    stream.end(hello);
    return stream;
  };
  begin().close(constants.NGHTTP2_CANCEL);
  const reset = begin();
  await expect.poll(() => calls.length).toBeGreaterThan(0);
  reset.close(constants.NGHTTP2_CANCEL);
  await expect.poll(() => calls.every((call) => call.cancellation.isCancelled)).toBe(true);
  expect(calls.at(-1)?.cancellation.reason).toMatchObject({ code: 'cancelled' });
  const count = calls.length;
  begin();
  await expect.poll(() => calls.length).toBe(count + 1);
  client.session.destroy();
  await expect.poll(() => calls.at(-1)?.cancellation.isCancelled).toBe(true);
});

test('headers without measure are refused', async () => {
  const headers = { 'x-long': 'x'.repeat(20_000) };
  // The limit holds once the client has been told of it.
  await client.call('Later', { pieces: [hello] });
  const answer = await client.call('Echo', { headers, pieces: [hello] });
  expect(answer.rstCode).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  expect(calls).toHaveLength(0);
});

test('what is no HTTP/2 harms nobody', async () => {
  const socket = connect(ground.port, '127.0.0.1');
  socket.on('error', () => {});
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  socket.resume();
  await new Promise<void>((resolve) => socket.once('close', () => resolve()));
  expect((await client.call('Echo', { pieces: [hello] })).body).toEqual(hello);
});
