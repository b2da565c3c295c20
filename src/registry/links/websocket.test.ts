import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { WebSocketServer, type WebSocket } from 'ws';
import { createResolver } from '../../kit/egress/testing.ts';
import { openLinks, remote } from './testing.ts';

interface Params {
  readonly _meta?: { readonly progressToken?: unknown };
}

let server: WebSocketServer;
let sockets: WebSocket[];
let links: ReturnType<typeof openLinks>;
let url: string;
let answerTool: (socket: WebSocket, id: number, params?: Params) => void;

beforeEach(async () => {
  sockets = [];
  server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  // A listening TCP server has an address object.
  url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  server.on('connection', (socket) => {
    sockets.push(socket);
    socket.on('message', (data: Buffer) => answer(socket, JSON.parse(data.toString('utf8'))));
  });
  answerTool = (socket, id) => reply(socket, id, { content: [{ type: 'text', text: 'done' }] });
  links = openLinks({
    bytesMax: 100_000,
    egress: { lookup: createResolver().lookup },
  });
  links.directory.put(remote('con_ws', url));
});

afterEach(async () => {
  await links[Symbol.asyncDispose]();
  for (const socket of server.clients) socket.terminate();
  server.close();
});

function reply(socket: WebSocket, id: number, result: unknown): void {
  socket.send(JSON.stringify({ jsonrpc: '2.0', id, result }));
}

/** A server of the sessions that knows no `server/discover`. */
function answer(
  socket: WebSocket,
  message: { id?: number; method: string; params?: Params },
): void {
  const { id, method, params } = message;
  if (id === undefined) return;
  if (method === 'initialize') {
    reply(socket, id, {
      protocolVersion: '2025-11-25',
      capabilities: { tools: { listChanged: true } },
      serverInfo: { name: 'sockets', version: '1' },
    });
  } else if (method === 'tools/call') answerTool(socket, id, params);
  else if (method === 'ping') reply(socket, id, {});
  else {
    const error = { code: -32_601, message: 'unknown' };
    socket.send(JSON.stringify({ jsonrpc: '2.0', id, error }));
  }
}

test('progress that comes with the answer is told before it', async () => {
  answerTool = (socket, id, params) => {
    const { _meta: { progressToken } = {} } = params ?? {};
    for (const progress of [1, 2]) {
      const report = { progressToken, progress, total: 2 };
      const method = 'notifications/progress';
      socket.send(JSON.stringify({ jsonrpc: '2.0', method, params: report }));
    }
    reply(socket, id, { content: [] });
  };
  const link = await links.pool.open('con_ws');
  const told: unknown[] = [];
  await link.callTool('any', {}, { onProgress: (progress) => told.push(progress) });
  expect(told).toEqual([
    { progress: 1, total: 2 },
    { progress: 2, total: 2 },
  ]);
});

test('a server behind a WebSocket is called like any other', async () => {
  const link = await links.pool.open('con_ws');
  expect(link.server).toMatchObject({ name: 'sockets', era: 'legacy' });
  expect(sockets[0]?.protocol).toBe('mcp');
  expect((await link.callTool('work', {})).content).toEqual([{ type: 'text', text: 'done' }]);
  await link.probe();
});

test('a list that changed is told', async () => {
  const changed: string[] = [];
  links.pool.onOfferChanged((id) => changed.push(id));
  await links.pool.open('con_ws');
  const method = 'notifications/tools/list_changed';
  sockets[0]?.send(JSON.stringify({ jsonrpc: '2.0', method }));
  await expect.poll(() => changed).toEqual(['con_ws']);
});

test.each([
  ['a message that is too large', 'answer_too_large', 'x'.repeat(200_000)],
  ['what is no JSON', 'not_mcp', '<html>'],
])('%s ends the call and the link', async (_what, reason, text) => {
  answerTool = (socket) => socket.send(text);
  const link = await links.pool.open('con_ws');
  await expect(link.callTool('work', {})).rejects.toMatchObject({ code: 'upstream', reason });
  expect(links.pool.peek('con_ws')).toBeUndefined();
});

test.each([
  ['a result that is null', { result: null }],
  ['a result beside an error', { result: { content: [] }, error: null }],
  ['an error that is a text', { error: 'no' }],
])('%s ends the call at once, and the link goes on', async (_what, answered) => {
  answerTool = (socket, id) => socket.send(JSON.stringify({ jsonrpc: '2.0', id, ...answered }));
  const link = await links.pool.open('con_ws');
  const called = link.callTool('work', {}, { timeoutMs: 3_000 });
  await expect(called).rejects.toMatchObject({ code: 'upstream', reason: 'not_mcp' });
  await link.probe();
  expect(sockets.length).toBe(1);
});

test('an answer under an id that nobody asked with ends the one call that waits', async () => {
  answerTool = (socket, id) => reply(socket, id + 1_000, { content: [] });
  const link = await links.pool.open('con_ws');
  const called = link.callTool('work', {}, { timeoutMs: 3_000 });
  await expect(called).rejects.toMatchObject({ code: 'upstream', reason: 'wrong_id' });
  answerTool = (socket, id) =>
    socket.send(JSON.stringify({ jsonrpc: '2.0', id: `${id}`, result: { content: [] } }));
  expect((await link.callTool('work', {})).content).toEqual([]);
});

test('an answer that comes after its call was given up, or twice, is no other call’s', async () => {
  const ids: number[] = [];
  answerTool = (_socket, id) => ids.push(id);
  const link = await links.pool.open('con_ws');
  const given = link.callTool('work', {}, { timeoutMs: 50 });
  await expect(given).rejects.toMatchObject({ reason: 'timeout' });
  answerTool = (socket, id) => {
    for (const one of [...ids, id, id]) reply(socket, one, { content: [] });
  };
  expect((await link.callTool('work', {})).content).toEqual([]);
  await link.probe();
});

test('a server that leaves in mid-answer is not asked again by itself', async () => {
  let count = 0;
  answerTool = (socket) => {
    count += 1;
    socket.terminate();
  };
  const link = await links.pool.open('con_ws');
  const called = link.callTool('work', {});
  await expect(called).rejects.toMatchObject({ code: 'unavailable', reason: 'answer_cut_off' });
  expect(count).toBe(1);
});

test('a link that died in silence is opened anew for the next call', async () => {
  const link = await links.pool.open('con_ws');
  sockets[0]?.terminate();
  await expect.poll(() => links.pool.peek('con_ws')).toBeUndefined();
  expect((await link.callTool('work', {})).content).toEqual([{ type: 'text', text: 'done' }]);
  expect(sockets.length).toBe(2);
});

test.each([
  ['ws://meta.test/', 'egress_blocked'],
  ['ws://169.254.169.254/', 'egress_blocked'],
  ['ws://127.0.0.1:1/', 'unreachable'],
  ['ws://unknown.test/', 'unreachable'],
])('%s fails as %s', async (address, reason) => {
  links.directory.put(remote('con_other', address));
  await expect(links.pool.open('con_other')).rejects.toMatchObject({ reason });
});
