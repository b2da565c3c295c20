import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createClient } from '../../../kit/client.ts';
import { Fault } from '../../../kit/errors.ts';
import { Lifetime } from '../../../kit/lifecycle.ts';
import { silentLog } from '../../../kit/testing.ts';
import { gatewayContract } from '../../../gateway/contract.ts';
import { json, openAiAnswer, startGateway, startProvider } from '../../../gateway/testing.ts';
import type { NodeContext } from '../component.ts';
import { createLetterModels } from '../../collections/testing.ts';
import { runComponent } from '../cms/testing.ts';
import { aiComponents, type AiDependencies } from './ai-components.ts';

const lifetime = new Lifetime(silentLog);
let provider: Awaited<ReturnType<typeof startProvider>>;
let gateway: Awaited<ReturnType<typeof startGateway>>;
let dependencies: AiDependencies;

beforeAll(async () => {
  provider = lifetime.own('the provider', await startProvider(json({})));
  gateway = lifetime.own('the gateway', await startGateway());
  const models = [{ name: 'm1', inputCostPerMToken: 1_000, outputCostPerMToken: 2_000 }];
  await gateway.put('up', {
    dialect: 'openai',
    baseUrl: `${provider.url}/v1`,
    apiKey: 'k',
    models,
  });
});

beforeEach(() => {
  provider.received.length = 0;
  provider.script(json(openAiAnswer('Hello.', { model: 'm1' })));
  const client = createClient(gatewayContract, {
    baseUrl: gateway.url,
    token: () => gateway.issuer.sign(),
    tracer: gateway.host.tracer,
  });
  const collections: AiDependencies['collections'] = {
    search: (name) =>
      Promise.reject(new Fault('not_found', name, { reason: 'collection_not_found' })),
  };
  dependencies = { gateway: client, models: createLetterModels().client, collections };
});

afterAll(() => lifetime[Symbol.asyncDispose]());

const run = (
  name: string,
  data: Readonly<Record<string, unknown>>,
  context: Partial<NodeContext> = {},
) => runComponent(aiComponents(dependencies), { name, data, context });

const schema = { type: 'object', properties: { score: { type: 'number' } }, required: ['score'] };

/** Schemas each of which names the one before it twice. */
function doubling(count: number) {
  const names = Array.from({ length: count }, (_, index) => `s${index}`);
  const $defs = Object.fromEntries(
    names.map((name, index) => {
      const before = { $ref: index === 0 ? '#/$defs/none' : `#/$defs/s${index - 1}` };
      return [name, { allOf: [before, before] }];
    }),
  );
  return { $ref: `#/$defs/s${count - 1}`, $defs };
}

describe('LLMNode', () => {
  test.each([{}, { system: 'You are terse.' }, { prompt: '' }, { messages: [] }])(
    'the settings %j ask nothing',
    async (data) => {
      await expect(run('LLMNode', data)).rejects.toMatchObject({ reason: 'bad_setting' });
    },
  );

  test('a model that nobody has is not found, and is not tried again', async () => {
    await expect(run('LLMNode', { prompt: 'Hi', model: 'lost' })).rejects.toMatchObject({
      code: 'not_found',
      reason: 'model_not_found',
    });
  });

  test('a model that takes too long is MODEL_TIMEOUT', async () => {
    provider.script(() => {});
    const asking = run('LLMNode', { prompt: 'Hi', model: 'm1' }, { timeoutMs: 300 });
    await expect(asking).rejects.toMatchObject({ code: 'deadline', reason: 'model_timeout' });
  });

  test('a cancelled node stops asking', async () => {
    provider.script(() => {});
    const stop = new AbortController();
    const asking = run('LLMNode', { prompt: 'Hi', model: 'm1' }, { signal: stop.signal });
    setTimeout(() => stop.abort(), 50);
    await expect(asking).rejects.toMatchObject({ code: 'cancelled' });
  });

  test('what a provider limits is exhausted', async () => {
    const error = { type: 'rate_limit', message: 'slow down' };
    provider.script(json({ error }, 429, { 'retry-after': '60' }));
    // Of its own: the gateway asks none that has a limit before it is over.
    const baseUrl = `${provider.url}/v1`;
    await gateway.put('limited', { dialect: 'openai', baseUrl, models: [{ name: 'm2' }] });
    const asking = run('LLMNode', { prompt: 'Hi', model: 'm2' });
    await expect(asking).rejects.toMatchObject({ code: 'exhausted' });
  });

  test('an answer that is no JSON fails where JSON was asked for', async () => {
    const asking = () => run('LLMNode', { prompt: 'Rate', model: 'm1', responseFormat: 'json' });
    await expect(asking()).rejects.toMatchObject({ code: 'upstream', reason: 'answer_not_json' });
    const choices = [
      { index: 0, message: { role: 'assistant', content: '{"sc' }, finish_reason: 'length' },
    ];
    provider.script(json(openAiAnswer('', { choices })));
    await expect(asking()).rejects.toMatchObject({ code: 'invalid', reason: 'answer_cut' });
  });

  test.each([
    [schema, '{"score": "x"}', '/score must be number'],
    [schema, '{}', 'score'],
    [
      { $ref: '#/$defs/a', $defs: { a: { type: 'array', items: { enum: ['b'] } } } },
      '["c"]',
      '/0 must be one of "b"',
    ],
    [{ type: 'object', oneOf: [schema, { required: ['none'] }] }, '{"some": 1}', 'required'],
  ])(
    'an answer that the schema %j does not allow fails, and may be asked for again',
    async (responseFormat, content, message) => {
      provider.script(json(openAiAnswer(content)));
      const asking = run('LLMNode', { prompt: 'Rate', model: 'm1', responseFormat });
      await expect(asking).rejects.toMatchObject({
        code: 'upstream',
        reason: 'answer_does_not_fit',
        message: expect.stringContaining(message),
      });
    },
  );

  test.each([
    [{ $ref: '#' }, '1'],
    [{ type: 'string', pattern: '^(a+)+$' }, JSON.stringify(`${'a'.repeat(40)}b`)],
    [{ additionalProperties: false, patternProperties: { '^a': {} } }, '{"a": 1}'],
    [doubling(40), '1'],
  ])(
    'the schema %j asks for no more than can be checked in time',
    async (responseFormat, content) => {
      provider.script(json(openAiAnswer(content)));
      const { output } = await run('LLMNode', { prompt: 'Say', model: 'm1', responseFormat });
      expect(output.json).toEqual(JSON.parse(content));
    },
  );

  test('an answer that is refused says what it cost', async () => {
    const asking = run('LLMNode', { prompt: 'Rate', model: 'm1', responseFormat: 'json' });
    const usage = { model: 'm1', promptTokens: 10, completionTokens: 5, cost: 0.02 };
    await expect(asking).rejects.toMatchObject({ reason: 'answer_not_json', usage });
  });

  test('the answer comes with its model, its tokens and its cost', async () => {
    const done = await run('LLMNode', {
      system: 'Be terse.',
      messages: [{ role: 'user', content: { a: 1 } }],
      prompt: 'Hi',
      model: 'm1',
      temperature: 0.5,
      maxTokens: 9,
    });
    const usage = { promptTokens: 10, completionTokens: 5 };
    expect(done.output).toMatchObject({
      completion: 'Hello.',
      text: 'Hello.',
      finishReason: 'stop',
    });
    expect(done.output.usage).toMatchObject({ ...usage, totalTokens: 15, cost: 0.02 });
    expect(done.usage).toMatchObject({ ...usage, cost: 0.02 });
    expect(provider.received[0]?.body).toMatchObject({
      messages: [
        { role: 'system', content: 'Be terse.' },
        { role: 'user', content: '{"a":1}' },
        { role: 'user', content: 'Hi' },
      ],
      temperature: 0.5,
    });
  });

  test.each(['{"score": 0.5}', '```json\n{"score": 0.5}\n```'])(
    'the answer %j is read as JSON',
    async (content) => {
      provider.script(json(openAiAnswer(content)));
      const { output } = await run('LLMNode', {
        prompt: 'Rate',
        model: 'm1',
        responseFormat: schema,
      });
      expect(output.json).toEqual({ score: 0.5 });
      expect(provider.received[0]?.body.response_format).toMatchObject({
        type: 'json_schema',
        json_schema: { schema },
      });
    },
  );

  test('another model is asked when the first one fails', async () => {
    const { output } = await run('LLMNode', {
      prompt: 'Hi',
      model: 'lost',
      fallbackModels: ['m1'],
    });
    expect(output.text).toBe('Hello.');
  });
});

describe('Embeddings', () => {
  test('one of text and texts is needed', async () => {
    const refusal = { reason: 'bad_setting' };
    await expect(run('Embeddings', {})).rejects.toMatchObject(refusal);
    await expect(run('Embeddings', { text: 'a', texts: ['a'] })).rejects.toMatchObject(refusal);
  });

  test('vectors come in the order of the texts, with length 1', async () => {
    const one = await run('Embeddings', { text: 'aaa' });
    expect(one.output).toMatchObject({ dimensions: 26, model: 'letters' });
    expect(one.output.vector.slice(0, 2)).toEqual([1, 0]);
    expect(one.output).not.toHaveProperty('vectors');
    const many = await run('Embeddings', { texts: ['b', { a: 1 }] });
    expect(many.output.vectors[0].slice(0, 2)).toEqual([0, 1]);
    expect(many.output.vectors[1].slice(0, 2)).toEqual([1, 0]);
    expect(many.usage).toMatchObject({ promptTokens: 2, cost: 0 });
  });
});

describe('VectorSearch', () => {
  test('an unknown collection, and the chats where they cannot be searched', async () => {
    await expect(run('VectorSearch', { query: 'a', collection: 'lost' })).rejects.toMatchObject({
      reason: 'collection_not_found',
    });
    const chats = run('VectorSearch', { query: 'a', collection: 'conversations' });
    await expect(chats).rejects.toMatchObject({ code: 'unimplemented', reason: 'not_available' });
  });
});

describe('ImageGen', () => {
  const base64 = Buffer.from('\u0089PNG picture').toString('base64');
  const made = (image: unknown, fields = {}) => json({ created: 1, data: [image], ...fields });
  const offer = () => {
    const models = [
      { name: 'pixels', capabilities: ['image'], inputCostPerMToken: 5, outputCostPerMToken: 40 },
    ];
    return gateway.put('painter', { dialect: 'openai', baseUrl: `${provider.url}/v1`, models });
  };

  test('without a provider that makes images it says so', async () => {
    await expect(run('ImageGen', { prompt: 'a cat' })).rejects.toMatchObject({
      code: 'unimplemented',
      reason: 'provider_not_configured',
    });
  });

  test('a model that makes none, or that nobody has, is refused', async () => {
    await offer();
    const lost = run('ImageGen', { prompt: 'a cat', model: 'lost' });
    await expect(lost).rejects.toMatchObject({ code: 'not_found', reason: 'model_not_found' });
    await gateway.put('painter', {
      dialect: 'openai',
      baseUrl: `${provider.url}/v1`,
      models: [{ name: 'talker', capabilities: ['chat'] }],
    });
    const talker = run('ImageGen', { prompt: 'a cat', model: 'talker' });
    await expect(talker).rejects.toMatchObject({
      code: 'invalid',
      reason: 'unsupported_capability',
    });
  });

  test('a provider that takes too long, or forbids the prompt', async () => {
    await offer();
    provider.script(() => {});
    const late = run('ImageGen', { prompt: 'a cat' }, { timeoutMs: 300 });
    await expect(late).rejects.toMatchObject({ code: 'deadline', reason: 'model_timeout' });
    provider.script(json({ error: { message: 'no', code: 'moderation_blocked' } }, 400));
    const forbidden = run('ImageGen', { prompt: 'a cat' });
    await expect(forbidden).rejects.toMatchObject({ code: 'invalid', reason: 'content_filter' });
  });

  test.each([
    [{ url: 'https://images.test/1.png' }, 'https://images.test/1.png'],
    [{ b64_json: base64 }, `data:image/png;base64,${base64}`],
    [{ b64_json: '/9j/AA==' }, 'data:image/jpeg;base64,/9j/AA=='],
    [{ b64_json: 'UklGRgAA' }, 'data:image/webp;base64,UklGRgAA'],
  ])('the image %j is %s', async (image, url) => {
    await offer();
    provider.script(made(image));
    const { output } = await run('ImageGen', { prompt: 'a cat' });
    expect(output.image_url).toBe(url);
  });

  test('the image comes with its model, its tokens and its cost', async () => {
    await offer();
    const image = { url: 'https://images.test/1', revised_prompt: 'A small cat.' };
    const usage = { input_tokens: 10, output_tokens: 1_000, total_tokens: 1_010 };
    provider.script(made(image, { usage }));
    const settings = { size: '512x512', quality: 'low', format: 'webp' };
    const done = await run('ImageGen', { prompt: { of: 'a cat' }, model: 'pixels', ...settings });
    expect(done.output).toEqual({
      image_url: 'https://images.test/1',
      revisedPrompt: 'A small cat.',
      model: 'pixels',
      provider: 'painter',
      usage: { promptTokens: 10, completionTokens: 1_000, totalTokens: 1_010, cost: 0.040_05 },
    });
    expect(done.usage).toEqual({
      model: 'pixels',
      promptTokens: 10,
      completionTokens: 1_000,
      cost: 0.040_05,
    });
    expect(provider.received.at(-1)?.body).toEqual({
      model: 'pixels',
      prompt: '{"of":"a cat"}',
      size: '512x512',
      quality: 'low',
      output_format: 'webp',
    });
  });
});
