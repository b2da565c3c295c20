import { createMcpHandler, McpServer, type McpHttpHandler } from '@modelcontextprotocol/server';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { fromWeb, openLinks, remote, serve, type TestServer } from './testing.ts';

type Eras = 'legacy' | 'modern' | 'both';

let links: ReturnType<typeof openLinks>;
let server: TestServer;
let modern: McpHttpHandler;
let both: McpHttpHandler;
/** What the server at the one address speaks. */
let eras: Eras;
let methods: (string | null)[];
/** What a legacy server answers to the other messages. */
let refuse: (request: Request) => Response | Promise<Response>;

beforeEach(async () => {
  [eras, methods] = ['legacy', []];
  refuse = () => new Response('Bad Request: Server not initialized', { status: 400 });
  modern = createMcpHandler(named, { legacy: 'reject' });
  both = createMcpHandler(named);
  server = await serve(
    fromWeb(async (request) => {
      const isModern = request.headers.get('mcp-protocol-version') === '2026-07-28';
      methods.push(request.headers.get('mcp-method'));
      if (eras === 'legacy' && isModern) return refuse(request);
      return (eras === 'modern' ? modern : both).fetch(request);
    }),
  );
  links = openLinks();
  links.directory.put(remote('con_a', server.url));
});

afterEach(async () => {
  await links[Symbol.asyncDispose]();
  await modern.close();
  await both.close();
  await server[Symbol.asyncDispose]();
});

function named(): McpServer {
  const made = new McpServer({ name: 'eras', version: '1' });
  made.registerTool('which', { description: 'Says what it is' }, () => ({
    content: [{ type: 'text', text: eras }],
  }));
  return made;
}

const changes = [
  ['legacy', 'modern'],
  ['modern', 'legacy'],
  ['both', 'legacy'],
  ['legacy', 'both'],
] as const;

test.each(changes)('a server that goes from %s to %s is called on', async (from, to) => {
  eras = from;
  const link = await links.pool.open('con_a');
  await link.callTool('which', {});
  eras = to;
  const answers = await Promise.all([link.callTool('which', {}), link.callTool('which', {})]);
  expect(answers.map(({ content }) => content)).toEqual(
    Array.from({ length: 2 }, () => [{ type: 'text', text: to }]),
  );
  expect(link.server.era).toBe(to === 'modern' ? 'modern' : 'legacy');
});

test('a call that is under way when another finds the new era is called on too', async () => {
  eras = 'modern';
  const link = await links.pool.open('con_a');
  eras = 'legacy';
  let calls = 0;
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  refuse = async (request) => {
    const isCall = request.headers.get('mcp-method') === 'tools/call';
    if (isCall && (calls += 1) === 2) await released;
    return new Response('Bad Request: Server not initialized', { status: 400 });
  };
  const [first, second] = [link.callTool('which', {}), link.callTool('which', {})];
  const answer = { content: [{ type: 'text', text: 'legacy' }] };
  expect(await Promise.race([first, second])).toMatchObject(answer);
  release();
  expect(await Promise.all([first, second])).toMatchObject([answer, answer]);
});

test.each(changes)('a server that goes from %s to %s is found well', async (from, to) => {
  eras = from;
  const link = await links.pool.open('con_a');
  eras = to;
  await link.probe();
  eras = from;
  expect((await link.learn()).tools.map(({ name }) => name)).toEqual(['which']);
});

const failures: readonly [string, () => Response | Promise<Response>][] = [
  ['the status 500', () => new Response('Unknown method', { status: 500 })],
  ['the status 501', () => new Response(null, { status: 501 })],
  ['a page', () => new Response('<h1>Error</h1>', { headers: { 'content-type': 'text/html' } })],
  ['the end of the connection', () => Promise.reject(new Error('cut'))],
];

test.each(failures)(
  'a legacy server that answers discovery with %s is begun as such',
  async (_by, fail) => {
    refuse = fail;
    const link = await links.pool.open('con_a');
    expect(link.server.era).toBe('legacy');
    expect((await link.learn()).tools.map(({ name }) => name)).toEqual(['which']);
  },
);

test('a legacy server that was upgraded while nobody was connected is asked anew', async () => {
  const first = await links.pool.open('con_a');
  links.directory.put({ ...remote('con_a', server.url), server: first.server });
  await links.pool.close('con_a');
  eras = 'modern';
  expect((await links.pool.open('con_a')).server.era).toBe('modern');

  await using restarted = openLinks();
  restarted.directory.put({ ...remote('con_a', server.url), server: first.server });
  expect((await restarted.pool.open('con_a')).server.era).toBe('modern');
});

test.each([-32_601, -32_602])('discovery refused by %i has the era asked anew', async (code) => {
  eras = 'modern';
  const link = await links.pool.open('con_a');
  eras = 'legacy';
  refuse = async (request) => {
    const { id } = (await request.json()) as { readonly id: number };
    const error = { code, message: 'Invalid request parameters' };
    return Response.json({ jsonrpc: '2.0', id, error });
  };
  await link.probe();
  expect(link.server.era).toBe('legacy');
});

test('a server that refuses one call alone keeps its link', async () => {
  eras = 'both';
  const link = await links.pool.open('con_a');
  const standing = links.pool.peek('con_a')?.server;
  await expect(link.callTool('none', {})).rejects.toMatchObject({ reason: 'server_error' });
  refuse = (request) => {
    const isCall = request.headers.get('mcp-method') === 'tools/call';
    return isCall ? new Response('no', { status: 400 }) : both.fetch(request);
  };
  eras = 'legacy';
  await expect(link.callTool('which', {})).rejects.toMatchObject({ detail: { status: 400 } });
  expect(methods.at(-1)).toBe('server/discover');
  expect(links.pool.peek('con_a')?.server).toBe(standing);
});

test('a server of a revision that is not known here is told of by it', async () => {
  const ahead = await serve(
    fromWeb(async (request) => {
      const { id, method } = Object(await request.json());
      if (method !== 'initialize') return new Response(null, { status: 400 });
      const serverInfo = { name: 'ahead', version: '1' };
      const result = { protocolVersion: '2099-01-01', capabilities: {}, serverInfo };
      return Response.json({ jsonrpc: '2.0', id, result });
    }),
  );
  links.directory.put(remote('con_ahead', ahead.url));
  await expect(links.pool.open('con_ahead')).rejects.toMatchObject({
    code: 'upstream',
    reason: 'protocol_unsupported',
    detail: { protocolVersion: '2099-01-01' },
  });
  await ahead[Symbol.asyncDispose]();
});
