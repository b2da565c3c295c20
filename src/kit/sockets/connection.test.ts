import { Type } from 'typebox';
import { afterEach, expect, test } from 'vitest';
import type { Contract } from '../contract.ts';
import { plainEnvelope } from '../envelope.ts';
import { Fault } from '../errors.ts';
import { createTestServer, listenAnywhere } from '../testing.ts';
import type { Connection } from './connection.ts';
import { TestClient } from './testing.ts';

const contract = {
  name: 'pipe',
  title: 'Pipe',
  version: '1.0.0',
  description: 'One socket.',
  error: plainEnvelope.schema,
  routes: {},
  sockets: { pipe: { url: '/pipe', summary: 'A pipe', event: Type.Unknown() } },
} as const satisfies Contract;

const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** Both ends of a socket whose queue holds 64 KiB. */
async function connect() {
  const socketLimits = { queuedBytesMax: 64 * 1024 };
  const { http, issuer } = await createTestServer(contract, { socketLimits });
  const opening = new Promise<Connection>((resolve) =>
    http.serveSockets(contract, { pipe: { serve: resolve } }),
  );
  const url = await listenAnywhere(http);
  closers.push(() => http.close(1_000));
  const headers = { authorization: `Bearer ${await issuer.sign()}` };
  const client = await new TestClient(`${url}/pipe`, { headers }).opened();
  return { client, connection: await opening };
}

test('a fault that a handler throws is told in the words of the service', async () => {
  const { client, connection } = await connect();
  connection.onMessage(() => {
    throw new Fault('conflict', 'not now');
  });
  client.send({});
  expect(await client.next()).toMatchObject({
    type: 'error',
    error: { code: 'CONFLICT', message: 'not now' },
  });
});

test('any other error is told as internal, without what is behind it', async () => {
  const { client, connection } = await connect();
  connection.onMessage(() => Promise.reject(new Error('secret')));
  client.send({});
  const message = await client.next();
  expect(message).toMatchObject({ type: 'error', error: { code: 'INTERNAL' } });
  expect(JSON.stringify(message)).not.toContain('secret');
});

test('a reader that is too slow loses values until it has read half of what waits', async () => {
  const { client, connection } = await connect();
  client.socket.pause();
  let sentCount = 0;
  while (connection.send('x'.repeat(50_000))) sentCount += 1;
  expect(connection.send('small')).toBe(false);
  const hasRoom = connection.room();
  client.socket.resume();
  await hasRoom;
  expect(connection.send('small')).toBe(true);
  expect((await client.take(sentCount + 1)).at(-1)).toBe('small');
});

test('whoever waits for room is told when the reader goes instead', async () => {
  const { client, connection } = await connect();
  client.socket.pause();
  while (connection.send('x'.repeat(50_000)));
  const hasRoom = connection.room();
  client.socket.terminate();
  await hasRoom;
  expect(connection.signal.aborted).toBe(true);
  expect(connection.send('late')).toBe(false);
});

test('messages that come after the close are not handled', async () => {
  const { client, connection } = await connect();
  const handled: string[] = [];
  connection.onMessage((text) => {
    handled.push(text);
    connection.close(4000, 'enough');
  });
  client.send(1);
  client.send(2);
  expect(await client.closed()).toEqual({ code: 4000, reason: 'enough' });
  expect(handled).toEqual(['1']);
  expect(connection.signal.aborted).toBe(true);
});
