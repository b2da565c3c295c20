import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openLinks, remote, serve, type TestServer } from './testing.ts';

let links: ReturnType<typeof openLinks>;
let server: TestServer;
/** Of the requests for the rest of a stream. */
let resumptions: IncomingHttpHeaders[];
let onCall: (response: ServerResponse, answer: string) => void;
let onResumption: (response: ServerResponse, answer: string) => void;
let calls: number;

interface Message {
  readonly id?: number;
  readonly method: string;
}

beforeEach(async () => {
  [resumptions, calls] = [[], 0];
  let answer = '';
  server = await serve((request, response) => {
    const { headers, method } = request;
    const take = async () => {
      if (method === 'GET' && headers['last-event-id'] !== undefined) {
        resumptions.push(headers);
        return onResumption(response, answer);
      }
      const { id, method: asked }: Message = JSON.parse((await text(request)) || '{"method":""}');
      if (asked !== 'tools/call') return plain(response, id, asked);
      calls += 1;
      const result = { content: [{ type: 'text', text: 'resumed' }] };
      answer = `data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`;
      return onCall(response.setHeader('content-type', 'text/event-stream'), answer);
    };
    take().catch(() => response.destroy());
  });
  links = openLinks();
  links.directory.put(remote('con_a', server.url));
});

afterEach(async () => {
  await links[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

/** A server of the sessions without any tool. */
function plain(response: ServerResponse, id: number | undefined, method: string): void {
  if (id === undefined) return void response.writeHead(method === '' ? 405 : 202).end();
  response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 'ses' });
  const serverInfo = { name: 'polled', version: '1' };
  const result = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo };
  const error = { code: -32_601, message: 'no such method' };
  const said = method === 'initialize' ? { result } : { error };
  response.end(JSON.stringify({ jsonrpc: '2.0', id, ...said }));
}

function openEvents(response: ServerResponse): ServerResponse {
  return response.writeHead(200, { 'content-type': 'text/event-stream' });
}

const call = async () => {
  const link = await links.pool.open('con_a');
  return link.callTool('echo', {}, { timeoutMs: 10_000 });
};
const resumed = { content: [{ type: 'text', text: 'resumed' }] };

test('an answer that the server lets wait is fetched where its stream ended', async () => {
  onCall = (response) => void response.end('id: 1\nretry: 60\ndata: \n\n');
  onResumption = (response, answer) => {
    const isLast = resumptions.length === 3;
    openEvents(response).end(isLast ? answer : `id: ${resumptions.length + 1}\ndata: \n\n`);
  };
  expect(await call()).toMatchObject(resumed);
  expect(resumptions.map((headers) => headers['last-event-id'])).toEqual(['1', '2', '3']);
  expect(resumptions[0]).toMatchObject({
    'mcp-session-id': 'ses',
    'mcp-protocol-version': '2025-11-25',
    accept: 'text/event-stream',
  });
  expect(calls).toBe(1);
});

test('an event that was cut off is asked for again, and half of it does no harm', async () => {
  onCall = (response, answer) => {
    response.write(`retry: 50\nid: a\ndata: \n\nid: b\n${answer.slice(0, 20)}`);
    setTimeout(() => response.destroy(), 20);
  };
  onResumption = (response, answer) => void openEvents(response).end(`id: b\n${answer}`);
  expect(await call()).toMatchObject(resumed);
  expect(resumptions.map((headers) => headers['last-event-id'])).toEqual(['a']);
});

test('a whole answer has nothing asked for behind it', async () => {
  onCall = (response, answer) => void response.end(`retry: 50\nid: 1\n${answer}`);
  onResumption = (response) => void response.writeHead(500).end();
  expect(await call()).toMatchObject(resumed);
  expect(await call()).toMatchObject(resumed);
  expect(resumptions).toEqual([]);
});

test('a stream without ids is no more than it was', async () => {
  onCall = (response) => void response.end('data: \n\n');
  await expect(call()).rejects.toMatchObject({ reason: 'answer_cut_off' });
  expect(resumptions).toEqual([]);
});

test.each([
  ['404', 1, (response: ServerResponse) => response.writeHead(404).end()],
  ['405', 1, (response: ServerResponse) => response.writeHead(405).end()],
  ['503', 3, (response: ServerResponse) => response.writeHead(503).end()],
  ['nothing new', 3, (response: ServerResponse) => openEvents(response).end(': none\n\n')],
])('a server that answers with %s is asked %i times, the call once', async (_, times, answer) => {
  onCall = (response) => void response.end('id: 1\nretry: 50\ndata: \n\n');
  onResumption = (response) => void answer(response);
  await expect(call()).rejects.toMatchObject({ reason: 'answer_cut_off' });
  expect(resumptions).toHaveLength(times);
  expect(calls).toBe(1);
});

test('a result is passed on as it came, also without the structure that its tool promises', async () => {
  onCall = (response, answer) => void response.end(answer);
  const inputSchema = { type: 'object' } as const;
  const tools = [{ name: 'echo', inputSchema, outputSchema: inputSchema }];
  const offer = { tools, prompts: [], resources: [], resourceTemplates: [] };
  links.directory.put({ ...remote('con_a', server.url), offer });
  expect(await call()).toMatchObject(resumed);
});

test('a call that fails is told why, and not why one before it did', async () => {
  const location = 'http://169.254.169.254/mcp';
  onCall = (response) => void response.writeHead(307, { location }).end();
  await expect(call()).rejects.toMatchObject({ reason: 'egress_blocked' });
  onCall = (response) => void response.end('data: \n\n');
  await expect(call()).rejects.toMatchObject({ reason: 'answer_cut_off' });
});

test('who gives up is not held by a server that has itself waited for', async () => {
  onCall = (response) => void response.end('id: 1\nretry: 20000\ndata: \n\n');
  const link = await links.pool.open('con_a');
  const running = link.callTool('echo', {}, { timeoutMs: 100 });
  await expect(running).rejects.toMatchObject({ code: 'deadline' });
  expect(link.activeCount).toBe(0);
});

test('an answer under another id ends a call at once, also after one that was refused', async () => {
  const link = await links.pool.open('con_a');
  onCall = (response) => void response.writeHead(503).end();
  await expect(link.callTool('work', {})).rejects.toMatchObject({ reason: 'http_status' });
  const stray = JSON.stringify({ jsonrpc: '2.0', id: 999, result: { content: [] } });
  onCall = (response) => void openEvents(response).write(`data: ${stray}\n\n`);
  const called = link.callTool('work', {}, { timeoutMs: 3_000 });
  await expect(called).rejects.toMatchObject({ code: 'upstream', reason: 'wrong_id' });
});
