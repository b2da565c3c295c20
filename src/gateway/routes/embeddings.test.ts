import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { json, startGateway, startProvider, type ScriptedProvider } from '../testing.ts';

let first: ScriptedProvider;
let second: ScriptedProvider;
let gateway: Awaited<ReturnType<typeof startGateway>>;

const usage = { prompt_tokens: 8, total_tokens: 8 };
const good = json({
  model: 'up-model',
  data: [{ object: 'embedding', index: 0, embedding: [0.5, -1] }],
  usage,
});

beforeAll(async () => {
  [first, second, gateway] = await Promise.all([startProvider(), startProvider(), startGateway()]);
  const models = [
    { name: 'vectors', capabilities: ['embedding'], inputCostPerMToken: 1_000 },
    { name: 'words', capabilities: ['chat'] },
  ];
  await gateway.put('one', { dialect: 'openai', baseUrl: `${first.url}/v1`, models });
  const behind = { dialect: 'openai', baseUrl: `${second.url}/v1`, priority: 1, models };
  await gateway.put('two', behind);
});

beforeEach(() => {
  first.received.length = 0;
  first.script(good);
  second.script(good);
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await first[Symbol.asyncDispose]();
  await second[Symbol.asyncDispose]();
});

const ask = (fields: Readonly<Record<string, unknown>>) =>
  gateway.call('POST', '/v1/embeddings', { input: 'a text', ...fields });

test.each([
  ['nobody-embeds', 404, 'model_not_found'],
  ['words', 400, 'unsupported_capability'],
])('the model %s is refused, and nobody is asked', async (model, status, code) => {
  const answer = await ask({ model });
  expect(answer.status).toBe(status);
  expect(answer.body.error).toMatchObject({ param: 'model', code });
  expect(first.received).toEqual([]);
});

test('the next provider answers when the first one fails', async () => {
  first.script(json({ error: { message: 'oops' } }, 500));
  const answer = await ask({ model: 'vectors' });
  expect(answer.headers.get('x-gateway-provider')).toBe('two');
  expect(answer.headers.get('x-gateway-attempts')).toBe('2');
});

test('a complaint about the text names the input', async () => {
  const message = "This model's maximum context length is 8192 tokens.";
  const error = { message, code: 'context_length_exceeded' };
  for (const { script } of [first, second]) script(json({ error }, 400));
  const answer = await ask({ model: 'vectors' });
  expect(answer.body.error).toMatchObject({ param: 'input', code: 'context_length_exceeded' });
});

test.each(['vectors', undefined])('the model %s answers vectors, at their price', async (model) => {
  const answer = await ask({ ...(model && { model }), encoding_format: 'base64' });
  const floats = Buffer.from(Float32Array.from([0.5, -1]).buffer).toString('base64');
  expect(answer.body).toEqual({
    object: 'list',
    data: [{ object: 'embedding', index: 0, embedding: floats }],
    model: 'up-model',
    usage,
  });
  expect(answer.headers.get('x-gateway-cost')).toBe('0.008');
});

test.each([
  ['fallbacks', ['words']],
  ['routing_strategy', 'quality'],
  ['cache', { enabled: false }],
])('%s, which is of chats, is refused by name', async (param, value) => {
  const answer = await ask({ model: 'vectors', [param]: value });
  expect(answer.status).toBe(400);
  expect(answer.body.error).toMatchObject({ param, code: 'unsupported_parameter' });
  expect(first.received).toEqual([]);
});

test('fields that the gateway does not know go to the provider', async () => {
  await ask({ model: 'vectors', user: 'somebody', cache: null });
  expect(first.received[0]?.body).toMatchObject({ user: 'somebody' });
  expect(first.received[0]?.body).not.toHaveProperty('cache');
});

test('an answer that names no model is of the one that was asked', async () => {
  await gateway.put('gem', {
    dialect: 'gemini',
    baseUrl: `${first.url}/v1beta`,
    models: [{ name: 'gem-vectors', capabilities: ['embedding'] }],
  });
  first.script(json({ embeddings: [{ values: [0.5, -1] }] }));
  const answer = await ask({ model: 'gem/gem-vectors' });
  expect(answer.body).toMatchObject({ model: 'gem-vectors' });
});
