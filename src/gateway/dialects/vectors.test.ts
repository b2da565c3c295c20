import { Ollama } from 'ollama';
import { describe, expect, test } from 'vitest';
import type { EmbeddingRequest } from '../conversation/embedding.ts';
import { geminiDialect } from './gemini.ts';
import { ollamaDialect } from './ollama.ts';
import { failureOf, SentRequest } from './testing.ts';

const request: EmbeddingRequest = {
  model: 'm',
  input: ['one text', 'two'],
  dimensions: 2,
  extras: { encoding_format: 'base64', user: 'u' },
};
const vectors = [
  [1, 2],
  [3, 4],
];
const dialects = { gemini: geminiDialect.embeddings!, ollama: ollamaDialect.embeddings! };

describe.each(['gemini', 'ollama'] as const)('embeddings of %s', (name) => {
  const dialect = dialects[name];
  const written = (values: unknown[]) => ({
    embeddings: name === 'gemini' ? values.map((item) => ({ values: item })) : values,
  });

  test('refuse what they have no word for', () => {
    expect(dialect.unsupported({ ...request, input: [[1, 2]] }, 'm')).toBe('input');
    expect(dialect.unsupported({ ...request, extras: { task: 'x' } }, 'm')).toBe('task');
    expect(dialect.unsupported(request, 'm')).toBeUndefined();
  });

  test.each([
    ['nothing', {}],
    ['too few vectors', written([vectors[0]])],
    ['no numbers', written([['a'], ['b']])],
    ['an empty vector', written([[], []])],
  ])('are broken when %s comes', (_what, body) => {
    expect(failureOf(() => dialect.read(body, request)).kind).toBe('broken');
  });

  test('come in the order of the texts, with a guess of what they took', () => {
    expect(dialect.read(written(vectors), request)).toEqual({
      model: 'm',
      vectors,
      inputTokens: 3,
    });
  });
});

test('Gemini gets all texts in one batch, and says what newer models took', () => {
  const model = 'gemini-embedding-001';
  const item = (text: string) => ({
    model: `models/${model}`,
    content: { parts: [{ text }] },
    outputDimensionality: 2,
  });
  expect(dialects.gemini.write(request, model)).toEqual({
    path: `/models/${model}:batchEmbedContents`,
    body: { requests: [item('one text'), item('two')] },
  });
  const answer = { embeddings: [{ values: [1] }, { values: [2] }] };
  const usageMetadata = { promptTokenCount: 9 };
  expect(dialects.gemini.read({ ...answer, usageMetadata }, request).inputTokens).toBe(9);
});

test('Ollama gets what its own client sends', async () => {
  const sent = new SentRequest({ embeddings: vectors });
  const client = new Ollama({ host: 'http://127.0.0.1:1', fetch: sent.fetch });
  await client.embed({
    model: 'all-minilm',
    input: ['one text', 'two'],
    truncate: false,
    dimensions: 2,
  });
  const { path, body } = dialects.ollama.write(request, 'all-minilm');
  expect(body).toEqual(sent.body);
  expect(sent.url.endsWith(path)).toBe(true);
  const answer = { model: 'all-minilm', embeddings: vectors, prompt_eval_count: 5 };
  expect(dialects.ollama.read(answer, request).inputTokens).toBe(5);
});
