import { describe, expect, test } from 'vitest';
import { failureOf } from '../testing.ts';
import { openAiImages } from './images.ts';

const request = { model: 'm', prompt: 'a cat', options: {} };
const read = (body: unknown) => openAiImages.read(body, request);
const data = [{ b64_json: 'AA==' }];

describe('images of OpenAI', () => {
  test.each([
    ['no object', []],
    ['no list', { data: 'x' }],
    ['no image', { data: [] }],
    ['an image without bytes', { data: [...data, { b64_json: '' }] }],
    ['an image that is a text', { data: ['x'] }],
  ])('are broken when %s comes', (_what, body) => {
    expect(failureOf(() => read(body)).kind).toBe('broken');
  });

  test('may be fewer or more than were asked for', () => {
    expect(read({ data: [...data, { url: 'https://i.test/1' }] }).count).toBe(2);
  });

  test.each([
    ['nothing', undefined, undefined],
    ['half of it', { input_tokens: 5 }, undefined],
    ['nonsense', { input_tokens: -1, output_tokens: 1e300 }, undefined],
    [
      'the sums',
      { input_tokens: 5, output_tokens: 9 },
      { inputTokens: 5, outputTokens: 9, imageTokens: 9 },
    ],
    [
      'details',
      {
        input_tokens: 5,
        output_tokens: 9,
        input_tokens_details: { cached_tokens: 2 },
        output_tokens_details: { image_tokens: 7, text_tokens: 2 },
      },
      { inputTokens: 5, outputTokens: 9, imageTokens: 7, cachedInputTokens: 2 },
    ],
  ])('say of what they took %s', (_what, usage, expected) => {
    expect(read({ data, usage }).usage).toEqual(expected);
  });
});
