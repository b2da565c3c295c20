import OpenAI, { BadRequestError } from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { describeModel, scriptedEnd, ScriptedInference } from '../inference/testing.ts';
import { collect, startDialects } from '../dialects-testing.ts';

const inference = new ScriptedInference([
  describeModel('tiny'),
  describeModel('chatty', { runtime: 'local' }),
  describeModel('hf.co/owner/model:Q4', { runtime: 'ollama', contextTokens: undefined }),
  describeModel('ennead-embed', { capabilities: ['embedding'], embeddingDimensions: 4 }),
]);
const text = (content: string) => ({ type: 'text', text: content }) as const;

let service: Awaited<ReturnType<typeof startDialects>>;
let client: OpenAI;

beforeAll(async () => {
  service = await startDialects(inference);
  client = new OpenAI({ baseURL: `${service.url}/v1`, apiKey: service.token, maxRetries: 0 });
});

afterAll(() => service[Symbol.asyncDispose]());

beforeEach(() => {
  inference.events = [text(' upon'), text(' a time'), scriptedEnd];
  inference.requests.length = 0;
});

async function refusalOf(path: string, body: object) {
  const { status, error } = await service.post(path, body);
  return { status, param: error.param };
}

describe('text completions', () => {
  test.each([
    ['suffix', { suffix: 'the end' }],
    ['logprobs', { logprobs: 0 }],
    ['n', { n: 3 }],
    ['best_of', { best_of: 2 }],
    ['tfs_z', { tfs_z: 0.5 }],
    ['template', { template: 'x' }],
    ['options', { options: { temperature: 0 } }],
    ['stop_token_ids', { stop_token_ids: [1] }],
    ['prompt', { prompt: [1, 2, 3] }],
    ['prompt', { prompt: [[1, 2], [3]] }],
    ['prompt', { prompt: ['one', 'two'] }],
    ['prompt', { prompt: [] }],
    ['max_tokens', { max_tokens: 0 }],
  ])('%s is refused: %j', async (param, fields) => {
    const refusal = await refusalOf('/v1/completions', {
      model: 'tiny',
      prompt: 'Once',
      ...fields,
    });
    expect(refusal).toEqual({ status: 400, param });
    expect(inference.requests).toEqual([]);
  });

  test('a text is continued, with the prompt before it when asked for', async () => {
    const request = { model: 'tiny', prompt: ['Once'], temperature: 0.5 };
    const answer = await client.completions.create(request);
    expect(answer).toEqual({
      id: expect.stringMatching(/^cmpl/),
      object: 'text_completion',
      created: expect.any(Number),
      model: 'tiny',
      choices: [{ text: ' upon a time', index: 0, logprobs: null, finish_reason: 'stop' }],
      usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 },
    });
    const echoed = await client.completions.create({ ...request, echo: true });
    expect(echoed.choices[0]?.text).toBe('Once upon a time');
    expect(inference.requests[0]).toEqual({
      prompt: { text: 'Once' },
      maxTokens: 16,
      temperature: 0.5,
    });
  });

  test('a stream has each text, the reason, and the usage when asked for', async () => {
    const stream = await client.completions.create({
      model: 'tiny',
      prompt: 'Once',
      echo: true,
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks = await collect(stream);
    const choice = (content: string, reason: string | null = null) => [
      { text: content, index: 0, logprobs: null, finish_reason: reason },
    ];
    expect(chunks.map(({ choices }) => choices)).toEqual([
      choice('Once'),
      choice(' upon'),
      choice(' a time'),
      choice('', 'stop'),
      [],
    ]);
    expect(chunks.map(({ usage }) => usage?.total_tokens)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      18,
    ]);
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
  });
});

describe('embeddings', () => {
  test.each([
    ['input', { input: [1, 2, 3] }],
    ['input', { input: [[1, 2], [3]] }],
    ['input[0]', { input: '' }],
    ['input[1]', { input: ['a', ''] }],
    ['input[0]', { input: [{}] }],
    ['input', { input: [] }],
    ['input', { input: Array.from({ length: 2049 }, () => 'a') }],
    ['dimensions', { dimensions: 3 }],
    ['dimensions', { dimensions: -4 }],
    ['encoding_format', { encoding_format: 'hex' }],
  ])('%s is refused: %j', async (param, fields) => {
    const refusal = await refusalOf('/v1/embeddings', { input: 'a', ...fields });
    expect(refusal).toEqual({ status: 400, param });
  });

  test('a model that makes none is refused', async () => {
    const embedding = client.embeddings.create({ model: 'chatty', input: 'a' });
    await expect(embedding).rejects.toBeInstanceOf(BadRequestError);
    await expect(embedding).rejects.toMatchObject({
      param: 'model',
      message: expect.stringContaining('chatty makes no embeddings') as string,
    });
  });

  test('the client gets the same numbers as floats and, by its own choice, as base64', async () => {
    const request = { model: 'ennead-embed', input: ['abcd', 'ab'] };
    const expected = [
      { object: 'embedding', index: 0, embedding: [4, 2, 1, 0.5] },
      { object: 'embedding', index: 1, embedding: [2, 1, 0.5, 0.25] },
    ];
    const packed = await client.embeddings.create(request);
    expect(packed.data.map(({ embedding }) => [...embedding])).toEqual(
      expected.map(({ embedding }) => embedding),
    );
    const plain = await client.embeddings.create({ ...request, encoding_format: 'float' });
    expect(plain).toEqual({
      object: 'list',
      data: expected,
      model: 'ennead-embed',
      dimensions: 4,
      normalised: false,
      usage: { prompt_tokens: 6, total_tokens: 6 },
    });
  });

  test('without a model it is the in-box embedder that answers', async () => {
    const answer = await fetch(`${service.url}/v1/embeddings`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ input: 'abcd', dimensions: 4 }),
    });
    expect(await answer.json()).toMatchObject({ model: 'ennead-embed', dimensions: 4 });
  });
});

describe('models', () => {
  test('are listed and read, whatever their names hold', async () => {
    const cards = await collect(client.models.list());
    const created = Date.parse('2026-01-02T03:04:05.000Z') / 1000;
    expect(cards).toEqual([
      {
        id: 'tiny',
        object: 'model',
        created,
        owned_by: 'scripted',
        capabilities: ['completion', 'json', 'tools'],
        context_length: 2048,
      },
      {
        id: 'chatty',
        object: 'model',
        created,
        owned_by: 'local',
        capabilities: ['completion', 'json', 'tools'],
        context_length: 1024,
      },
      {
        id: 'hf.co/owner/model:Q4',
        object: 'model',
        created,
        owned_by: 'ollama',
        capabilities: ['completion', 'json', 'tools'],
      },
      {
        id: 'ennead-embed',
        object: 'model',
        created,
        owned_by: 'scripted',
        capabilities: ['embedding'],
        context_length: 2048,
      },
    ]);
    expect(await client.models.retrieve('hf.co/owner/model:Q4')).toEqual(cards[2]);
  });
});
