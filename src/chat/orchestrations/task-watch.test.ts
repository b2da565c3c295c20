import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { WebSocketServer, type WebSocket } from 'ws';
import { silentLog } from '../../kit/testing.ts';
import type { AgentProgress } from './orchestration.ts';
import { TaskWatch } from './task-watch.ts';

const lifetime: (() => Promise<unknown> | void)[] = [];

afterEach(async () => {
  for (const close of lifetime.splice(0).toReversed()) await close();
});

/** A mesh that tells what the test does; refuses `refusedCount` handshakes first. */
async function startStream({ refusedCount = 0 } = {}) {
  let left = refusedCount;
  const subscriptions: unknown[] = [];
  const sockets: WebSocket[] = [];
  const server = new WebSocketServer({
    port: 0,
    host: '127.0.0.1',
    path: '/api/v1/activity/stream',
    verifyClient: (_info, admit) => {
      left -= 1;
      admit(left < 0, 401);
    },
  });
  server.on('connection', (socket) => {
    sockets.push(socket);
    socket.on('message', (data) => subscriptions.push(JSON.parse((data as Buffer).toString())));
  });
  await once(server, 'listening');
  lifetime.push(async () => {
    for (const socket of server.clients) socket.terminate();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, subscriptions, sockets, server };
}

function watch(meshUrl: string) {
  const told: AgentProgress[] = [];
  let forgotten = 0;
  const own = new TaskWatch({
    meshUrl,
    token: { get: async () => 'token', forget: () => (forgotten += 1) },
    onProgress: (progress) => told.push(progress),
    log: silentLog,
    pauseMsMax: 20,
  });
  lifetime.push(() => own[Symbol.asyncDispose]());
  return { own, told, forgottenCount: () => forgotten };
}

const ended = (type: string, seq: number, data: object) =>
  JSON.stringify({ eventId: 'e', type, agentId: 'a', timestamp: 't', seq, data });

test('a refused token is forgotten and a new one shown', async () => {
  const mesh = await startStream({ refusedCount: 2 });
  const { own, forgottenCount } = watch(mesh.url);
  own.set(true);
  await expect.poll(() => mesh.subscriptions.length).toBe(1);
  expect(forgottenCount()).toBe(2);
});

test('what makes no sense is passed over', async () => {
  const mesh = await startStream();
  const { own, told } = watch(mesh.url);
  own.set(true);
  await expect.poll(() => mesh.subscriptions.length).toBe(1);
  for (const text of ['{', '[]', '{"type":"task-executed"}', '"x"']) mesh.sockets[0]?.send(text);
  mesh.sockets[0]?.send(ended('task-failed', 7, { taskId: 't1', type: 'sum', duration: 12.4 }));
  await expect.poll(() => told.length).toBe(1);
  expect(told).toEqual([
    {
      agentId: 'a',
      taskId: 't1',
      progress: 1,
      status: 'failed',
      message: 'sum failed after 12 ms',
    },
  ]);
});

test('a stream that breaks off goes on behind what was seen', async () => {
  const mesh = await startStream();
  const { own, told } = watch(mesh.url);
  own.set(true);
  await expect.poll(() => mesh.subscriptions.length).toBe(1);
  mesh.sockets[0]?.send(JSON.stringify({ type: 'subscribed', seq: 3 }));
  mesh.sockets[0]?.send(ended('task-executed', 9, { taskId: 't2' }));
  await expect.poll(() => told.length).toBe(1);
  mesh.sockets[0]?.terminate();
  await expect.poll(() => mesh.subscriptions.length).toBe(2);
  const eventTypes = ['task-executed', 'task-failed', 'task-cancelled'];
  expect(mesh.subscriptions).toEqual([
    { action: 'subscribe', filters: { eventTypes }, ack: true },
    { action: 'subscribe', filters: { eventTypes }, after: 9 },
  ]);
});

test('it is open only while somebody wants to know', async () => {
  const mesh = await startStream();
  const { own } = watch(mesh.url);
  own.set(true);
  await expect.poll(() => mesh.subscriptions.length).toBe(1);
  own.set(false);
  await expect.poll(() => mesh.server.clients.size).toBe(0);
  own.set(true);
  await expect.poll(() => mesh.subscriptions.length).toBe(2);
  expect(mesh.subscriptions[1]).toMatchObject({ ack: true });
});
