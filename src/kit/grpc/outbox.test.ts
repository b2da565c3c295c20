import { once } from 'node:events';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Lifetime } from '../lifecycle.ts';
import { silentLog } from '../testing.ts';
import type { GrpcServerOptions } from './grpc-server.ts';
import { jsonFrame, jsonMethod, RawClient, startGrpc } from './testing.ts';

const kilobyte = { text: 'x'.repeat(1_000) };
const answerBytes = jsonFrame(kilobyte).length;

let lifetime: Lifetime;
let begun: number;

beforeEach(() => {
  lifetime = new Lifetime(silentLog);
  begun = 0;
});

afterEach(() => lifetime[Symbol.asyncDispose]());

async function start(options: Partial<GrpcServerOptions<number>> = {}) {
  const ground = lifetime.own('the ground', await startGrpc(options));
  ground.server.addUnary(jsonMethod('Give'), () => {
    begun += 1;
    return kilobyte;
  });
  return ground;
}

/** A client to which no byte of an answer may be sent until it says so. */
async function openDeaf(port: number): Promise<RawClient> {
  const client = new RawClient(port, { initialWindowSize: 0 });
  lifetime.defer('a client', () => client[Symbol.dispose]());
  await once(client.session, 'localSettings');
  return client;
}

const give = (client: RawClient) => client.call('Give', { pieces: [jsonFrame({})] });
const isOpen = ({ session }: RawClient) => !session.destroyed && !session.closed;

test('calls of a client that takes no answer wait, and go on once it does', async () => {
  const { port } = await start({ outboxLimits: { roomBytes: 2 * answerBytes } });
  const client = await openDeaf(port);
  const answers = Array.from({ length: 20 }, () => give(client));
  await expect.poll(() => begun).toBe(2);
  const other = new RawClient(port);
  lifetime.defer('another client', () => other[Symbol.dispose]());
  expect((await give(other)).trailers['grpc-status']).toBe('0');
  expect(begun).toBe(3);
  client.session.settings({ initialWindowSize: 65_535 });
  const statuses = (await Promise.all(answers)).map(({ trailers }) => trailers['grpc-status']);
  expect(statuses).toEqual(Array.from({ length: 20 }, () => '0'));
  expect(begun).toBe(21);
});

test('a client that never takes its answer loses its connection', async () => {
  const { port } = await start({ clientMsMax: 50 });
  const client = await openDeaf(port);
  const answer = await give(client);
  expect(answer.trailers['grpc-status']).toBeUndefined();
  expect(isOpen(client)).toBe(false);
});

test('neither does one that lets a stream of answers stand', async () => {
  const { server, port } = await start({ clientMsMax: 50 });
  let isStopped = false;
  server.addServerStream(jsonMethod('Endless'), async function* () {
    try {
      for (;;) yield { text: 'x'.repeat(10_000) };
    } finally {
      isStopped = true;
    }
  });
  const client = await openDeaf(port);
  await client.call('Endless', { pieces: [jsonFrame({})] });
  expect(isOpen(client)).toBe(false);
  await expect.poll(() => isStopped).toBe(true);
});

test('a connection that holds more than it may is ended', async () => {
  const { server, port } = await start({ outboxLimits: { connectionBytesMax: 3 * answerBytes } });
  const release: (() => void)[] = [];
  server.addUnary(
    jsonMethod('Wait'),
    () => new Promise<object>((resolve) => release.push(() => resolve(kilobyte))),
  );
  const client = await openDeaf(port);
  const calls = [1, 2, 3, 4].map(() => client.call('Wait', { pieces: [jsonFrame({})] }));
  await expect.poll(() => release.length).toBe(4);
  for (const end of release) end();
  await Promise.all(calls);
  expect(isOpen(client)).toBe(false);
});

test('when all hold more than they may, who has left its answer for longest goes', async () => {
  const { port } = await start({ outboxLimits: { serverBytesMax: 2 * answerBytes } });
  const clients = [await openDeaf(port), await openDeaf(port), await openDeaf(port)] as const;
  for (const [index, client] of clients.entries()) {
    void give(client);
    await expect.poll(() => begun).toBe(index + 1);
  }
  await expect.poll(() => isOpen(clients[0])).toBe(false);
  expect(clients.map(isOpen)).toEqual([false, true, true]);
  void give(clients[1]);
  await expect.poll(() => isOpen(clients[1])).toBe(false);
  expect(isOpen(clients[2])).toBe(true);
});
