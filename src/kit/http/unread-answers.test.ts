import { request, type IncomingMessage } from 'node:http';
import { Type } from 'typebox';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { plainEnvelope } from '../envelope.ts';
import { PushedAnswer } from '../answers/pushed-answer.ts';
import { createTestServer, listenAnywhere } from '../testing.ts';

const contract = {
  name: 'tapes',
  title: 'Tapes',
  version: '1.0.0',
  description: 'Long answers for tests.',
  error: plainEnvelope.schema,
  routes: {
    play: {
      method: 'GET',
      url: '/tapes/:megabytes',
      summary: 'Play a tape',
      auth: 'none',
      schema: {
        params: Type.Object({ megabytes: Type.Integer() }),
        response: { 200: Type.String() },
      },
    },
  },
} as const;

const silenceMs = 200;
const piece = Buffer.alloc(1_000_000, 'x');

let server: Awaited<ReturnType<typeof createTestServer>>;
let url: string;

beforeAll(async () => {
  server = await createTestServer(contract, { unreadTimeoutMs: silenceMs });
  server.http.serve(contract, {
    play: ({ params }) =>
      new PushedAnswer('text/plain', async (sink) => {
        sink.write('begun');
        await new Promise((resolve) => setTimeout(resolve, 2 * silenceMs));
        for (let at = 0; at < params.megabytes; at += 1) sink.write(piece);
      }),
  });
  url = await listenAnywhere(server.http);
});

afterAll(() => server.http.close(100));

/** An answer of which nothing has been read yet. */
function open(megabytes: number): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/tapes/${megabytes}`);
    sent.on('response', (response) => resolve(response.pause())).on('error', reject);
    sent.end();
  });
}

async function lengthOf(response: IncomingMessage): Promise<number> {
  let length = 0;
  for await (const chunk of response) length += (chunk as Buffer).length;
  return length;
}

test('who takes nothing of an answer loses the connection, also after the answer has ended', async () => {
  const response = await open(30);
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      server.http.app.server.getConnections((_error, count) => {
        if (count > 0) return;
        clearInterval(timer);
        resolve();
      });
    }, 20);
  });
  await expect(lengthOf(response)).rejects.toMatchObject({ code: 'ECONNRESET' });
});

test('an answer that takes longer than that to come is read whole', async () => {
  expect(await lengthOf(await open(30))).toBe('begun'.length + 30 * piece.length);
});
