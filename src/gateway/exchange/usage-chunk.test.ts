import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  json,
  openAiAnswer,
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
  await gateway.put('up', {
    dialect: 'openai',
    baseUrl: `${upstream.url}/v1`,
    models: [{ name: 'm', inputCostPerMToken: 1, outputCostPerMToken: 1 }],
  });
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

const ask = async (path: string, fields: Readonly<Record<string, unknown>> = {}) => {
  const body = { model: 'm', messages: [{ role: 'user', content: 'hi' }], stream: true, ...fields };
  return (await gateway.call('POST', path, body)).text;
};

const anthropicStream = (usage: object) =>
  [
    { type: 'message_start', message: { id: 'a', model: 'm' } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'a' } },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage },
    { type: 'message_stop' },
  ].map((event) => `data: ${JSON.stringify(event)}\n\n`);

/** A stream in one piece, with line ends of this kind. */
const whole = (texts: readonly string[], end: string) =>
  stream([texts.join('').replaceAll('\n', end)]);

test.each(['\n', '\r\n'])(
  'with line ends %j, only the usage that nobody asked for is taken out',
  async (end) => {
    const texts = openAiStream(['says "usage":{ ', 'and more']);
    upstream.script(whole(texts, end));
    const expected = texts.filter((text) => !text.includes('"choices":[]')).join('');
    expect(await ask('/v1/chat/completions')).toBe(expected.replaceAll('\n', end));
  },
);

test('the span of a request says what its provider read from and wrote to its cache', async () => {
  const usage = { input_tokens: 1, cache_read_input_tokens: 20, cache_creation_input_tokens: 300 };
  upstream.script(
    json({ content: [], stop_reason: 'end_turn', usage: { ...usage, output_tokens: 4 } }),
  );
  await gateway.put('maker', {
    dialect: 'anthropic',
    baseUrl: upstream.url,
    models: [{ name: 'c' }],
  });
  gateway.spans.length = 0;
  await ask('/v1/chat/completions', { model: 'c', stream: false });
  const request = gateway.spans.find(({ name }) => name.includes('/v1/chat/completions'));
  expect(request?.attributes).toMatchObject({
    'gen_ai.usage.input_tokens': 321,
    'gen_ai.usage.output_tokens': 4,
    'gen_ai.usage.cache_read.input_tokens': 20,
    'gen_ai.usage.cache_creation.input_tokens': 300,
  });
});

test('usage that comes beside words stays, and so does every chunk that has some', async () => {
  const withUsage = (content: string) =>
    openAiChunk({ content }).replace(
      '"usage":null',
      '"usage":{"prompt_tokens":1,"completion_tokens":1}',
    );
  const texts = [withUsage('a'), withUsage('b'), openAiChunk({}, 'stop'), 'data: [DONE]\n\n'];
  upstream.script(whole(texts, '\n'));
  expect(await ask('/v1/chat/completions')).toBe(texts.join(''));
  upstream.script(whole(texts, '\n'));
  const annotated = await ask('/api/v1/chat/completions');
  expect(annotated.match(/"cost":0\.000002/g)).toHaveLength(2);
  expect(annotated.match(/data: \{"provider":"up",/g)).toHaveLength(2);
});

test('an answer whose provider counts nothing is charged by its text, prompt and all', async () => {
  const long = 'word '.repeat(4_000);
  upstream.script(json(openAiAnswer('short', { usage: undefined })));
  const answer = await gateway.call('POST', '/api/v1/chat/completions', {
    model: 'm',
    messages: [{ role: 'user', content: long }],
  });
  expect(answer.body.usage.prompt_tokens).toBeGreaterThan(3_000);
  expect(answer.body.usage.cost).toBeGreaterThan(0.003);
});

test.each([
  [
    'openai',
    [openAiChunk({ content: 'a' }), openAiChunk({}, 'stop')].map((text) =>
      text.replace('"usage":null', '"usage":{"completion_tokens":7}'),
    ),
  ],
  ['anthropic', anthropicStream({ output_tokens: 7 })],
])(
  'a stream whose provider counts no prompt is charged it all the same: %s',
  async (dialect, texts) => {
    const models = [{ name: 'half', inputCostPerMToken: 1, outputCostPerMToken: 1 }];
    await gateway.put('half', { dialect, baseUrl: `${upstream.url}/v1`, models });
    const sums = async () => (await gateway.call('GET', '/api/v1/spend?groupBy=model')).body.totals;
    const before = await sums();
    upstream.script(stream(texts));
    await ask('/v1/chat/completions', {
      model: 'half',
      messages: [{ role: 'user', content: 'word '.repeat(4_000) }],
    });
    await expect.poll(async () => (await sums()).outputTokens).toBe(before.outputTokens + 7);
    expect((await sums()).inputTokens - before.inputTokens).toBeGreaterThan(3_000);
  },
);

test.each([[['data: [DONE]\n\n']], [[]]])(
  'a stream whose provider counts nothing says our count to who asks for it, ending with %j',
  async (end) => {
    const texts = [openAiChunk({ content: 'hi there' }), openAiChunk({}, 'stop')];
    const fields = { stream_options: { include_usage: true } };
    upstream.script(stream([...texts, ...end]));
    const annotated = await ask('/api/v1/chat/completions', fields);
    const [, usage] = /"usage":(\{"cost".*?\}\})/.exec(annotated) ?? [];
    const { prompt_tokens: input, completion_tokens: output, cost } = JSON.parse(usage ?? '{}');
    expect(input * output).toBeGreaterThan(0);
    expect(cost).toBeCloseTo((input + output) / 1e6, 12);
    expect(annotated.startsWith(texts.join(''))).toBe(true);
    expect(annotated.endsWith('data: [DONE]\n\n')).toBe(true);
    expect(annotated.match(/\[DONE\]/g)).toHaveLength(1);
  },
);

test('a stream that is too long to be read again is charged by all of its text', async () => {
  const outputTokens = async () =>
    (await gateway.call('GET', '/api/v1/spend?groupBy=model')).body.totals.outputTokens;
  /** Of an answer of so many pieces of a megabyte, of which nobody counts the tokens. */
  const tokensOf = async (pieceCount: number) => {
    const before = await outputTokens();
    const texts = Array.from({ length: pieceCount }, () => 'word '.repeat(200_000));
    upstream.script(
      stream(texts.map((content) => openAiChunk({ content })).concat(openAiChunk({}, 'stop'))),
    );
    await ask('/v1/chat/completions');
    await expect.poll(outputTokens).not.toBe(before);
    return (await outputTokens()) - before;
  };
  const short = await tokensOf(2);
  expect(short).toBeGreaterThan(300_000);
  expect((await tokensOf(6)) / short).toBeCloseTo(3, 2);
});

test('a stream in other words than its provider says who answered and what it cost', async () => {
  await gateway.put('gem', {
    dialect: 'gemini',
    baseUrl: `${upstream.url}/v1beta`,
    models: [{ name: 'g', inputCostPerMToken: 1, outputCostPerMToken: 1 }],
  });
  const piece = {
    candidates: [{ content: { role: 'model', parts: [{ text: 'hi' }] }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 2, totalTokenCount: 12 },
  };
  upstream.script(stream([`data: ${JSON.stringify(piece)}\n\n`]));
  const fields = { model: 'g', temperature: 0, stream_options: { include_usage: true } };
  const made = await ask('/api/v1/chat/completions', fields);
  expect(made).toContain('"cost":0.000012');
  expect(made).toContain('"provider":"gem"');
  expect(made.endsWith('data: [DONE]\n\n')).toBe(true);
  const again = await ask('/api/v1/chat/completions', fields);
  expect(again).toContain('"cost":0.000012');
});
