import { request, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  openAiStream,
  startGateway,
  startProvider,
  stream,
  type ScriptedProvider,
} from '../../testing.ts';

let upstream: ScriptedProvider;
let gateway: Awaited<ReturnType<typeof startGateway>>;

beforeAll(async () => {
  // Forty megabytes, more than the machine's own buffers take beside those of the gateway.
  const words = Array.from({ length: 2_500 }, () => 'x'.repeat(16_000));
  upstream = await startProvider(stream(openAiStream(words)));
  gateway = await start();
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

async function start(environment: Readonly<Record<string, string>> = {}) {
  const started = await startGateway({
    environment: { GATEWAY_ANSWER_CHARS_MAX: '100000000', ...environment },
  });
  const provider = { dialect: 'openai', baseUrl: `${upstream.url}/v1`, models: [{ name: 'm' }] };
  await started.put('up', provider);
  return started;
}

/** A stream of which nothing has been read yet. */
function open({ url, user } = gateway): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${user}`, 'content-type': 'application/json' },
    });
    sent.on('response', (response) => resolve(response.pause())).on('error', reject);
    const messages = [{ role: 'user', content: 'hi' }];
    sent.end(JSON.stringify({ model: 'm', messages, stream: true }));
  });
}

async function readAll(response: IncomingMessage): Promise<string> {
  let text = '';
  for await (const piece of response) text += String(piece);
  return text;
}

test('who reads as fast as it can gets all of a long answer', async () => {
  const text = await readAll(await open());
  expect(text.length).toBeGreaterThan(40_000_000);
  expect(text).toMatch(/data: \[DONE\]\n\n$/);
});

test('who does not read is told at last that the answer is not complete', async () => {
  const response = await open();
  await new Promise((resolve) => setTimeout(resolve, 5_000));
  const text = await readAll(response);
  expect(text).not.toContain('[DONE]');
  const events = text.trimEnd().split('\n\n');
  expect(events.at(-1)).toContain('"error"');
  expect(events.at(-1)).toContain('the caller reads too slowly');
});

test('of several who do not read the one for whom most waits loses its connection', async () => {
  await using small = await start({ GATEWAY_UNREAD_MIB: '10' });
  const silent = await Promise.all([open(small), open(small)]);
  await new Promise((resolve) => setTimeout(resolve, 5_000));
  const read = await Promise.allSettled(silent.map(readAll));
  expect(read.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
});
