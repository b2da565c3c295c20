import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  openAiChunk,
  openAiStream,
  startGateway,
  startProvider,
  stream,
  type ScriptedProvider,
} from '../testing.ts';

let upstream: ScriptedProvider;
let gateway: Awaited<ReturnType<typeof startGateway>>;

beforeAll(async () => {
  upstream = await startProvider();
  gateway = await startGateway();
  const baseUrl = `${upstream.url}/v1`;
  await gateway.put('up', { dialect: 'openai', baseUrl, models: [{ name: 'm' }] });
  await gateway.put('ant', { dialect: 'anthropic', baseUrl, models: [{ name: 'a' }] });
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

const messages = [{ role: 'user', content: 'hi' }];

const ask = async (path: string, model: string) => {
  const body = { model, messages, max_tokens: 9, stream: true };
  return (await gateway.call('POST', path, body)).text;
};

const event = (data: { type: string }) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;

const message = [
  { type: 'message_start', message: { id: 'msg_1', usage: { input_tokens: 1 } } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'message_stop' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } },
  { type: 'message_stop' },
].map(event);

const behind = [
  openAiChunk({ content: 'SECRET' }),
  'event: error\ndata: {"error":{"message":"SECRET"}}\n\n',
  ': SECRET\n\n',
  'SECRET',
];

test.each(['\n', '\r\n', '\r'])(
  'what a provider sends behind [DONE] reaches nobody, with line ends %j',
  async (end) => {
    const texts = openAiStream(['says data: [DONE]']);
    const whole = texts.filter((text) => !text.includes('"choices":[]')).join('');
    for (const extra of behind) {
      const sent = (texts.join('') + extra).replaceAll('\n', end);
      upstream.script(stream([sent]), stream([sent]), stream([sent]));
      expect(await ask('/v1/chat/completions', 'm')).toBe(whole.replaceAll('\n', end));
      expect(await ask('/api/v1/chat/completions', 'm')).toBe(whole);
      const translated = await ask('/v1/messages', 'm');
      expect(translated).toContain('event: message_stop');
      expect(translated).not.toContain('SECRET');
    }
  },
);

test('an answer that is too long to be read again ends with [DONE], also where its provider forgets it', async () => {
  const pieces = Array.from({ length: 5 }, () => 'x'.repeat(1024 * 1024));
  const sent = openAiStream(pieces).filter((text) => !text.includes('[DONE]'));
  upstream.script(stream(sent));
  const text = await ask('/v1/chat/completions', 'm');
  expect(text.length).toBeGreaterThan(5 * 1024 * 1024);
  expect(text).toMatch(/"finish_reason":"stop"[^]*data: \[DONE\]\n\n$/);
});

test('a message with a piece that makes no sense ends with message_stop, also where its provider forgets it', async () => {
  const sent = [...message.slice(0, -1), 'event: odd\ndata: [null]\n\n'];
  upstream.script(stream(sent));
  expect(await ask('/v1/messages', 'a')).toBe([...sent, message.at(-1)].join(''));
});

test('what a provider sends behind message_stop reaches nobody', async () => {
  for (const extra of ['event: error\ndata: {"type":"error"}\n\n', ...behind]) {
    const sent = message.join('') + extra;
    upstream.script(stream([sent]), stream([sent]));
    expect(await ask('/v1/messages', 'a')).toBe(message.join(''));
    const translated = await ask('/v1/chat/completions', 'a');
    expect(translated).toMatch(/data: \[DONE\]\n\n$/);
    expect(translated).not.toContain('SECRET');
  }
});
