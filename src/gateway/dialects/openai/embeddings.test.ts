import { describe, expect, it } from 'vitest';
import { UpstreamError } from '../upstream-error.ts';
import { openAiEmbeddings } from './embeddings.ts';

const request = { model: 'm', input: ['a', 'b'], extras: {} };
const vector = (index: number, embedding: unknown) => ({ object: 'embedding', index, embedding });

describe('embeddings', () => {
  it.each([
    ['no object', []],
    ['an error', { error: { message: 'no' } }],
    ['too few', { data: [vector(0, [1])] }],
    ['two of one input', { data: [vector(1, [1]), vector(1, [2])] }],
    ['numbers beyond the inputs', { data: [vector(0, [1]), vector(5, [2])] }],
    ['an empty vector', { data: [vector(0, [1]), vector(1, [])] }],
    ['a vector of words', { data: [vector(0, [1]), vector(1, ['x'])] }],
    ['no vector', { data: [vector(0, [1]), vector(1, null)] }],
  ])('are refused: %s', (_, body) => {
    expect(() => openAiEmbeddings.read(body, request)).toThrow(UpstreamError);
  });

  it('come in the order of the inputs, from numbers or base64', () => {
    const base64 = Buffer.from(new Float32Array([0.5, -1]).buffer).toString('base64');
    const body = {
      model: 'text-embedding-3-small',
      data: [vector(1, base64), vector(0, [1, 2])],
      usage: { prompt_tokens: 8, total_tokens: 8 },
    };
    expect(openAiEmbeddings.read(body, request)).toEqual({
      model: 'text-embedding-3-small',
      vectors: [
        [1, 2],
        [0.5, -1],
      ],
      inputTokens: 8,
    });
  });

  it('are asked for as numbers, whatever the client wants', () => {
    const extras = { user: 'u', encoding_format: 'base64' };
    const written = openAiEmbeddings.write(
      { model: 'x', input: [[1, 2], 'b'], dimensions: 256, extras },
      'text-embedding-3-large',
    );
    expect(written).toEqual({
      path: '/embeddings',
      body: {
        user: 'u',
        encoding_format: 'float',
        model: 'text-embedding-3-large',
        input: [[1, 2], 'b'],
        dimensions: 256,
      },
    });
  });
});
