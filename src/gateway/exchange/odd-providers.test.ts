import { createServer, type AddressInfo, type Server } from 'node:net';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  json,
  openAiAnswer,
  openAiStream,
  startGateway,
  startProvider,
  stream,
  type ScriptedProvider,
} from '../testing.ts';

const models = [{ name: 'm', inputCostPerMToken: 1, outputCostPerMToken: 1 }];
const timeouts = { firstTokenMs: 5_000, idleMs: 100, totalMs: 5_000 };

let upstream: ScriptedProvider;
let gateway: Awaited<ReturnType<typeof startGateway>>;

beforeAll(async () => {
  upstream = await startProvider();
  gateway = await startGateway();
  await gateway.put('up', {
    dialect: 'openai',
    baseUrl: `${upstream.url}/v1`,
    models,
    timeouts,
  });
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

const messages: { role: 'user'; content: string }[] = [{ role: 'user', content: 'hi' }];
const chat = { model: 'm', messages, max_tokens: 9 };

describe('a provider that says nothing more behind the whole answer', () => {
  const silent = stream(openAiStream(['Hello']).slice(0, 3), 'hang');

  test.each(['/v1/chat/completions', '/api/v1/chat/completions'])(
    'has answered, with its tokens estimated: %s',
    async (path) => {
      upstream.script(silent);
      const { text } = await gateway.call('POST', path, {
        ...chat,
        stream: true,
        stream_options: { include_usage: true },
      });
      expect(text).toContain('"finish_reason":"stop"');
      expect(text).toMatch(/"usage":\{[^}]*"completion_tokens":2,/);
      expect(text).toMatch(/data: \[DONE\]\n\n$/);
      expect(text).not.toContain('"error"');
    },
  );

  test('has answered clients of Anthropic too', async () => {
    upstream.script(silent);
    const { text } = await gateway.call('POST', '/v1/messages', { ...chat, stream: true });
    expect(text).toContain('"stop_reason":"end_turn"');
    expect(text).toMatch(/event: message_stop\ndata: \{"type":"message_stop"\}\n\n$/);
  });
});

test('a provider whose choice has no message gives way to the next, and is named as the last', async () => {
  const baseUrl = `${upstream.url}/v1`;
  const nonsense = json({ choices: [{ index: 0, message: 'Hello', finish_reason: 'stop' }] });
  await gateway.put('odd', { dialect: 'openai', baseUrl, models: [{ name: 'odd' }] });
  upstream.script(nonsense, json(openAiAnswer('Hello')));
  const ask = (fields: object) =>
    gateway.call('POST', '/v1/chat/completions', { ...chat, model: 'odd', ...fields });
  expect(await ask({ fallbacks: ['m'] })).toMatchObject({
    status: 200,
    body: { choices: [{ message: { content: 'Hello' } }] },
  });
  upstream.script(nonsense, nonsense, nonsense);
  const { status, body } = await ask({});
  expect([status, body.error]).toMatchObject([
    502,
    { code: 'provider_error', message: 'odd/odd: the provider sent a choice without a message' },
  ]);
});

describe('a provider that leaves out the beginning of its stream', () => {
  const pieces = [
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } },
    { type: 'message_stop' },
  ];
  const headless = stream(pieces.map((piece) => `data: ${JSON.stringify(piece)}\n\n`));

  beforeAll(async () => {
    const baseUrl = `${upstream.url}/v1`;
    await gateway.put('ant', { dialect: 'anthropic', baseUrl, models: [{ name: 'a' }] });
  });

  test('is understood by clients of OpenAI', async () => {
    const openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.user });
    upstream.script(headless, headless);
    const chunks = openai.chat.completions.stream({ model: 'a', messages });
    expect((await chunks.finalChatCompletion()).choices[0]?.message.content).toBe('Hello');
    const events = openai.responses.stream({ model: 'a', input: 'hi' });
    expect(await events.finalResponse()).toMatchObject({
      status: 'completed',
      model: 'a',
      output_text: 'Hello',
    });
  });
});

describe('a provider whose answer has no head that can be read', () => {
  let raw: Server;
  let sent = '';

  beforeAll(async () => {
    raw = createServer((socket) => {
      socket.on('error', () => undefined).once('data', () => socket.end(sent));
    });
    await new Promise<void>((resolve) => raw.listen(0, '127.0.0.1', resolve));
  });

  afterAll(() => void raw.close());

  test.each([
    ['nonsense', 'HELLO\r\n\r\n', 'something that is not HTTP'],
    [
      'huge headers',
      `HTTP/1.1 200 OK\r\nx-big: ${'a'.repeat(20_000)}\r\n\r\n`,
      'with more than 16384 bytes of headers',
    ],
  ])('is named by what it sent, not called away: %s', async (_case, head, flaw) => {
    sent = head;
    const { port } = raw.address() as AddressInfo;
    const baseUrl = `http://127.0.0.1:${port}/v1`;
    // Put anew, its circuit is closed.
    await gateway.put('raw', { dialect: 'openai', baseUrl, models: [{ name: 'raw' }] });
    const answer = await gateway.call('POST', '/v1/chat/completions', { ...chat, model: 'raw' });
    expect(answer.status).toBe(502);
    expect(answer.body.error).toMatchObject({
      code: 'provider_error',
      message: `raw/raw: raw answered ${flaw}`,
    });
  });
});

test("OpenAI's client is told of a limit that lasts for hours, and does not sleep on it", async () => {
  upstream.script(json({ error: { message: 'slow down' } }, 429, { 'retry-after': '7200' }));
  const openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.user });
  await expect(openai.chat.completions.create(chat)).rejects.toMatchObject({
    status: 429,
    type: 'rate_limit_exceeded',
  });
});

test('a model that is limited rests by itself: the others of the same key are asked', async () => {
  const two = [{ name: 'busy' }, { name: 'calm' }];
  await gateway.put('two', { dialect: 'openai', baseUrl: `${upstream.url}/v1`, models: two });
  upstream.script(
    json({ error: { message: 'slow down' } }, 429, { 'retry-after': '120' }),
    json(openAiAnswer('at once')),
  );
  const ask = (model: string) =>
    gateway.call('POST', '/v1/chat/completions', { ...chat, model: `two/${model}` });
  expect((await ask('busy')).status).toBe(429);
  expect((await ask('calm')).status).toBe(200);
  const again = await ask('busy');
  expect(again.body.error.message).toContain('its limit is used up');
});
