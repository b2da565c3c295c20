import { expect, test } from 'vitest';
import { estimateInputTokens, textTokens } from './tokens.ts';
import { fakeRequest } from './testing.ts';

// Bounds that hold for every tokenizer in use: words are seldom less than one token each and hardly
// ever more than three; a Chinese character is half a token to two.
test.each([
  ['English', 'The quick brown fox jumps over the lazy dog and runs into the forest. ', 14, 28],
  ['German', 'Der schnelle braune Fuchs springt über den faulen Hund in den Wald. ', 12, 30],
  ['Chinese', '今天的天气非常好，我们去公园散步吧。', 9, 36],
  ['Russian', 'Быстрая коричневая лиса прыгает через ленивую собаку. ', 7, 30],
  ['code', 'const a = items.map((item) => item.id ?? fallback[item.key]);\n', 15, 30],
])('%s is counted within what tokenizers make of it', (_name, text, least, most) => {
  const estimate = textTokens(text.repeat(20)) / 20;
  expect(estimate).toBeGreaterThan(least);
  expect(estimate).toBeLessThan(most);
});

test('tools, schemas, pictures and files count too', () => {
  const plain = estimateInputTokens(fakeRequest('hi'));
  const parameters = { type: 'object', properties: { city: { type: 'string' } } };
  const withTool = estimateInputTokens(
    fakeRequest('hi', { tools: [{ name: 'weather', parameters }] }),
  );
  expect(withTool - plain).toBeGreaterThan(20);
  const image = (detail: string) =>
    estimateInputTokens(
      fakeRequest('', {
        messages: [
          {
            role: 'user',
            parts: [{ type: 'image', source: { kind: 'url', url: 'https://x.test/a' }, detail }],
          },
        ],
      }),
    );
  expect(image('low')).toBeLessThan(120);
  expect(image('high')).toBeGreaterThan(1000);
});

test('an empty request has no token', () => {
  expect(estimateInputTokens(fakeRequest('', { messages: [] }))).toBe(0);
});
