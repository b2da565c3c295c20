import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createResolver } from '../../kit/egress/testing.ts';
import { isUnsent } from './link-faults.ts';
import { openLinks, remote, serve, type TestServer } from './testing.ts';

const answers: Record<string, (response: ServerResponse) => void> = {
  hang: () => {},
  trickle: (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const timer = setInterval(() => response.write(' '), 20);
    response.once('close', () => clearInterval(timer));
  },
  large: (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const chunk = Buffer.alloc(1024 * 1024, 0x20);
    const write = (): void => {
      while (!response.destroyed && response.write(chunk));
      if (!response.destroyed) response.once('drain', write);
    };
    write();
  },
  'large-event': (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('data: ');
    const chunk = Buffer.alloc(1024 * 1024, 0x20);
    const write = (): void => {
      while (!response.destroyed && response.write(chunk));
      if (!response.destroyed) response.once('drain', write);
    };
    write();
  },
  bomb: (response) => {
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
    response.writeHead(200, headers).end(gzipSync(Buffer.alloc(32 * 1024 * 1024, 0x20)));
  },
  'cut-gzip': (response) => {
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
    response.writeHead(200, headers).end(gzipSync('{}').subarray(0, 12));
  },
  loop: (response) => void response.writeHead(307, { location: '/loop' }).end(),
  'to-file': (response) => void response.writeHead(307, { location: 'file:///etc/passwd' }).end(),
  'to-login': (response) => {
    response.writeHead(307, { location: 'http://user:pass@127.0.0.1:1/mcp' }).end();
  },
  metadata: (response) => {
    response.writeHead(307, { location: 'http://169.254.169.254/latest' }).end();
  },
  rebound: (response) => {
    response.writeHead(307, { location: 'http://meta.test/latest' }).end();
  },
  html: (response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>hello</h1>');
  },
  accepted: (response) => void response.writeHead(202).end(),
  'no-json': (response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"jsonrpc":');
  },
  broken: (response) => void response.writeHead(500).end('secret stack'),
  refusing: (response) => {
    response.writeHead(401, { 'www-authenticate': 'Bearer' }).end();
  },
  'asking-more': (response) => {
    const challenge = 'Bearer error="insufficient_scope", scope="read write"';
    response.writeHead(403, { 'www-authenticate': challenge }).end();
  },
  wording: (response) => {
    const error = { code: -32_000, message: 'the disk is full' };
    const body = JSON.stringify({ jsonrpc: '2.0', id: null, error });
    response.writeHead(507, { 'content-type': 'application/json' }).end(body);
  },
  limited: (response) => {
    const headers = { 'content-type': 'application/json', 'retry-after': '7' };
    const error = { code: -32_000, message: 'too many' };
    const body = JSON.stringify({ jsonrpc: '2.0', id: null, error });
    response.writeHead(429, headers).end(body);
  },
  'limited-for-years': (response) => {
    response.writeHead(503, { 'retry-after': '9'.repeat(400) }).end();
  },
  'wrong-id': (response) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 'another', result: {} });
    response.writeHead(200, { 'content-type': 'application/json' }).end(body);
  },
  'wrong-id-event': (response) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 'another', result: {} });
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(`data: ${body}\n\n`);
  },
  forbidding: (response) => void response.writeHead(403).end(),
  'cut-off': (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(': soon\n\n');
    setTimeout(() => response.destroy(), 20);
  },
  'cut-at-once': (response) => void response.destroy(),
  reset: (response) => void response.socket?.resetAndDestroy(),
  'cut-json': (response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': 100 });
    response.write('{');
    setTimeout(() => response.destroy(), 20);
  },
};

const resolver = createResolver();
const links = openLinks({ egress: { lookup: resolver.lookup }, bytesMax: 4 * 1024 * 1024 });
let server: TestServer;

beforeAll(async () => {
  server = await serve((request, response) => {
    answers[request.url?.slice(1) ?? '']?.(response);
  });
});

afterAll(async () => {
  await links[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

function openPath(path: string, timeoutMs = 5_000) {
  const id = `con_${path}`;
  const url = path.startsWith('http') ? path : `http://127.0.0.1:${server.port}/${path}`;
  links.directory.put(remote(id, url));
  return links.pool.open(id, { timeoutMs });
}

test.each([
  ['hang', 'deadline', 'timeout', 300],
  ['trickle', 'deadline', 'timeout', 300],
  ['large', 'upstream', 'answer_too_large', 5_000],
  ['large-event', 'upstream', 'answer_too_large', 5_000],
  ['bomb', 'upstream', 'answer_too_large', 5_000],
  ['cut-gzip', 'unavailable', 'answer_cut_off', 5_000],
  ['loop', 'upstream', 'redirect_loop', 5_000],
  ['to-file', 'upstream', 'redirect_refused', 5_000],
  ['to-login', 'upstream', 'redirect_refused', 5_000],
  ['metadata', 'forbidden', 'egress_blocked', 5_000],
  ['rebound', 'forbidden', 'egress_blocked', 5_000],
  ['html', 'upstream', 'not_mcp', 5_000],
  ['no-json', 'upstream', 'not_mcp', 5_000],
  ['accepted', 'upstream', 'not_mcp', 5_000],
  ['broken', 'upstream', 'http_status', 5_000],
  ['refusing', 'upstream', 'authorization_required', 5_000],
  ['asking-more', 'upstream', 'insufficient_scope', 5_000],
  ['forbidding', 'upstream', 'http_status', 5_000],
  ['wrong-id', 'upstream', 'wrong_id', 5_000],
  ['wrong-id-event', 'upstream', 'wrong_id', 5_000],
  ['cut-off', 'unavailable', 'answer_cut_off', 5_000],
  ['cut-json', 'unavailable', 'answer_cut_off', 5_000],
  ['cut-at-once', 'unavailable', 'answer_cut_off', 5_000],
  ['reset', 'unavailable', 'answer_cut_off', 5_000],
] as const)('a server that answers with %s fails as %s', async (path, code, reason, timeoutMs) => {
  await expect(openPath(path, timeoutMs)).rejects.toMatchObject({ code, reason });
  await expect.poll(() => links.pool.size).toBe(0);
});

test('of what comes with a status only the words of a JSON-RPC error are told', async () => {
  await expect(openPath('wording')).rejects.toMatchObject({
    message: 'the server answered with the HTTP status 507: the disk is full',
    detail: { status: 507, message: 'the disk is full' },
  });
  const error: unknown = await openPath('broken').catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ detail: { status: 500 } });
  expect(String(error)).not.toContain('secret');
});

test('a server that asks to wait is quoted, for a day at most', async () => {
  await expect(openPath('limited')).rejects.toMatchObject({
    reason: 'http_status',
    message: 'the server answered with the HTTP status 429, and asks to wait 7 s: too many',
    detail: { status: 429, message: 'too many' },
    retryAfter: 7,
  });
  await expect(openPath('limited-for-years')).rejects.toMatchObject({ retryAfter: 86_400 });
});

test('a closed port and an unknown name are told alike', async () => {
  for (const url of ['http://127.0.0.1:1/', 'http://unknown.test/']) {
    const error: unknown = await openPath(url).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: 'unavailable',
      reason: 'unreachable',
      message: 'the server cannot be reached',
    });
    // The names of the test have errors without a code.
    expect(isUnsent(error)).toBe(url.includes('127.0.0.1'));
  }
});

test.each(['http://169.254.169.254/mcp', 'http://meta.test/mcp', 'http://zero.test/mcp'])(
  '%s is never called',
  async (url) => {
    await expect(openPath(url)).rejects.toMatchObject({ reason: 'egress_blocked' });
  },
);

test('the scope that a server asks for is told', async () => {
  await expect(openPath('asking-more')).rejects.toMatchObject({ detail: { scope: 'read write' } });
});

test('what a broken server said stays with us', async () => {
  const error: unknown = await openPath('broken').catch((thrown: unknown) => thrown);
  expect(String(error)).not.toContain('secret');
});
