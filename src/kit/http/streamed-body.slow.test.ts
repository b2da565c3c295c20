import { createHash } from 'node:crypto';
import { connect } from 'node:net';
import { Type } from 'typebox';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Contract } from '../contract.ts';
import { plainEnvelope } from '../envelope.ts';
import { Fault } from '../errors.ts';
import { createTestServer, listenAnywhere } from '../testing.ts';

const contract = {
  name: 'streams',
  title: 'Streams',
  version: '1.0.0',
  description: 'Takes streams.',
  error: plainEnvelope.schema,
  routes: {
    hash: {
      method: 'PUT',
      url: '/hash',
      summary: 'Answer the hash of the body',
      auth: 'none',
      streamsBody: true,
      bodyBytesMax: 100_000_000,
      schema: { response: { 200: Type.Unknown() } },
    },
    refuse: {
      method: 'PUT',
      url: '/refuse',
      summary: 'Read the first piece and refuse the rest',
      auth: 'none',
      streamsBody: true,
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
let url: string;
let failure: unknown;

beforeAll(async () => {
  server = await createTestServer(contract);
  server.http.serve(contract, {
    hash: async ({ stream }) => {
      const hash = createHash('sha256');
      try {
        for await (const piece of stream) hash.update(piece as Buffer);
      } catch (error) {
        failure = error;
        throw error;
      }
      return { hash: hash.digest('hex') };
    },
    refuse: async ({ stream }) => {
      for await (const piece of stream) {
        throw new Fault('conflict', `refused after ${(piece as Buffer).length > 0}`);
      }
    },
    parse: ({ body }) => body,
  });
  url = await listenAnywhere(server.http);
});

afterAll(() => server.http.close(0));

const large = Buffer.alloc(30_000_000, 'ennead');

async function put(path: string, body: Uint8Array<ArrayBuffer> | ReadableStream, headers = {}) {
  const sent = { method: 'PUT', body, headers, duplex: 'half' };
  const response = await fetch(url + path, sent);
  // Tests read whatever they expect; a wrong expectation fails them.
  // oxlint-disable-next-line typescript/no-explicit-any
  const answer: any = await response.json();
  return { status: response.status, body: answer };
}

it('gives a body to the handler piece by piece, of any media type', async () => {
  const hash = createHash('sha256').update(large).digest('hex');
  for (const type of ['application/json', 'application/octet-stream', 'a/b']) {
    const answer = await put('/hash', large, { 'content-type': type });
    expect(answer).toEqual({ status: 200, body: { hash } });
  }
});

it('gives nothing where nothing was sent', async () => {
  const answer = await put('/hash', Buffer.alloc(0));
  expect(answer.body.hash).toBe(createHash('sha256').digest('hex'));
});

it('refuses more than the route takes, said before or not', async () => {
  const tooLarge = Buffer.alloc(100_000_001);
  expect((await put('/hash', tooLarge)).status).toBe(413);
  const unsaid = new Blob([tooLarge]).stream();
  expect((await put('/hash', unsaid)).status).toBe(413);
});

it('answers a handler that reads no further, and takes the next request', async () => {
  const answer = await put('/refuse', large);
  expect([answer.status, answer.body.error.message]).toEqual([409, 'refused after true']);
  const parsed = await fetch(`${url}/parse`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"a":1}',
  });
  expect(await parsed.json()).toEqual({ a: 1 });
});

it('fails the handler when the sender leaves', async () => {
  failure = undefined;
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.write('PUT /hash HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\npart');
  setTimeout(() => socket.destroy(), 50);
  await expect.poll(() => failure).toBeInstanceOf(Error);
});
