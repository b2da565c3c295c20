import { gzipSync } from 'node:zlib';
import { Type } from 'typebox';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Contract } from '../contract.ts';
import { plainEnvelope } from '../envelope.ts';
import { createTestServer } from '../testing.ts';
import { WrittenBytes } from '../answers/written-json.ts';

const contract = {
  name: 'bytes',
  title: 'Bytes',
  version: '1.0.0',
  description: 'Takes bytes.',
  error: plainEnvelope.schema,
  routes: {
    echo: {
      method: 'POST',
      url: '/echo',
      summary: 'Answer the body',
      auth: 'none',
      takesBytes: true,
      bodyBytesMax: 1_000,
      schema: { response: { 200: Type.Unknown() } },
    },
    parse: {
      method: 'POST',
      url: '/parse',
      summary: 'Answer the JSON',
      auth: 'none',
      schema: { body: Type.Object({ a: Type.Number() }), response: { 200: Type.Unknown() } },
    },
  },
} as const satisfies Contract;

let server: Awaited<ReturnType<typeof createTestServer>>;

beforeAll(async () => {
  server = await createTestServer(contract);
  server.http.serve(contract, {
    echo: ({ bytes, headers }) => new WrittenBytes(bytes, headers['content-type'] ?? 'none/none'),
    parse: ({ body }) => body,
  });
  await server.http.app.ready();
});

afterAll(() => server.http.close(0));

async function post(url: string, payload: Buffer, headers: Record<string, string>) {
  return server.http.app.inject({ method: 'POST', url, payload, headers });
}

it('gives a body of any media type and content coding to the handler as it came', async () => {
  const body = gzipSync(Buffer.from([0, 255, 128, 1]));
  const headers = { 'content-type': 'application/x-protobuf', 'content-encoding': 'gzip' };
  const answer = await post('/echo', body, headers);
  expect(answer.statusCode).toBe(200);
  expect(answer.rawPayload.equals(body)).toBe(true);
  expect(answer.headers['content-type']).toBe('application/x-protobuf');
});

it('does not parse JSON that is wanted as bytes', async () => {
  const answer = await post('/echo', Buffer.from('{"a":'), { 'content-type': 'application/json' });
  expect([answer.statusCode, answer.body]).toEqual([200, '{"a":']);
});

it('gives no bytes where none were sent', async () => {
  const answer = await server.http.app.inject({ method: 'POST', url: '/echo' });
  expect([answer.statusCode, answer.rawPayload.length]).toEqual([200, 0]);
});

it('refuses more bytes than the route takes', async () => {
  const answer = await post('/echo', Buffer.alloc(1_001), { 'content-type': 'a/b' });
  expect(answer.statusCode).toBe(413);
});

it('leaves the other routes of the service to JSON', async () => {
  const headers = { 'content-type': 'application/json' };
  const good = await post('/parse', Buffer.from('{"a":1}'), headers);
  expect(good.json()).toEqual({ a: 1 });
  const bad = await post('/parse', Buffer.from([1, 2]), { 'content-type': 'a/b' });
  expect(bad.statusCode).toBe(415);
});
