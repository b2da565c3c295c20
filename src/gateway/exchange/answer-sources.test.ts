import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  json,
  openAiAnswer,
  startGateway,
  startProvider,
  type ScriptedProvider,
} from '../testing.ts';

let first: ScriptedProvider;
let second: ScriptedProvider;
let gateway: Awaited<ReturnType<typeof startGateway>>;

beforeAll(async () => {
  first = await startProvider(json(openAiAnswer('from the first')));
  second = await startProvider(json(openAiAnswer('from the second')));
  gateway = await startGateway();
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await first[Symbol.asyncDispose]();
  await second[Symbol.asyncDispose]();
});

const settings = (url: string, more: object = {}) => ({
  dialect: 'openai',
  baseUrl: `${url}/v1`,
  models: [{ name: 'm' }],
  ...more,
});

let prompts = 0;

/** Asks twice, so that the answer is in the cache. */
async function asked() {
  const messages = [{ role: 'user', content: `again ${(prompts += 1)}` }];
  const ask = (isStream = false) =>
    gateway.call('POST', '/v1/chat/completions', {
      model: 'up/m',
      messages,
      temperature: 0,
      stream: isStream,
    });
  await ask();
  expect((await ask()).headers.get('x-cache')).toBe('HIT');
  return ask;
}

test.each([
  ['is gone', () => gateway.asAdmin('DELETE', '/api/v1/providers/up'), 404],
  [
    'has the model no more',
    () => gateway.put('up', settings(first.url, { models: [{ name: 'n' }] })),
    404,
  ],
])('an answer is not given from the cache once its provider %s', async (_title, change, status) => {
  await gateway.put('up', settings(first.url));
  const ask = await asked();
  await change();
  for (const isStream of [false, true]) expect((await ask(isStream)).status).toBe(status);
});

test.each([
  ['another address', () => settings(second.url), 'from the second'],
  ['other headers', () => settings(first.url, { headers: { 'x-version': '2' } }), 'from the first'],
])('a provider that was given %s is asked anew', async (_title, changed, text) => {
  await gateway.put('up', settings(first.url));
  const ask = await asked();
  await gateway.put('up', changed());
  const answer = await ask();
  expect(answer.headers.get('x-cache')).toBe('MISS');
  expect(answer.text).toContain(text);
  expect((await ask()).headers.get('x-cache')).toBe('HIT');
});

test('another key or another price leaves the answers where they are', async () => {
  await gateway.put('up', settings(first.url));
  const ask = await asked();
  const models = [{ name: 'm', inputCostPerMToken: 7 }];
  await gateway.put('up', settings(first.url, { apiKey: 'another', models }));
  expect((await ask()).headers.get('x-cache')).toBe('HIT');
});

test('whoever begins a thread at the provider begins one of their own', async () => {
  const usage = { input_tokens: 1, output_tokens: 1 };
  const content = [{ type: 'text', text: 'hi' }];
  const message = { type: 'message', role: 'assistant', model: 'c', content, usage };
  let created = 0;
  await using upstream = await startProvider((received, response) =>
    json({ ...message, id: `msg_${(created += 1)}`, stop_reason: 'end_turn' })(received, response),
  );
  await gateway.put('cl', { ...settings(upstream.url), dialect: 'anthropic' });
  const body = {
    model: 'cl/m',
    max_tokens: 9,
    temperature: 0,
    messages: [{ role: 'user', content: 'x' }],
    thread: { type: 'create' },
  };
  const one = await gateway.call('POST', '/v1/messages', body);
  const other = await gateway.call('POST', '/v1/messages', body);
  expect([one.body.id, other.body.id]).toEqual(['msg_1', 'msg_2']);
  expect(other.headers.has('x-cache')).toBe(false);
});
