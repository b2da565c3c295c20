import { expect, test } from 'vitest';
import { parseCommentedJson } from './commented-json.ts';

test.each([
  ['// a header\n{"a": 1 /* one */, // more\n "b": [1, 2,],\n}', { a: 1, b: [1, 2] }],
  ['\uFEFF{"a": 1}', { a: 1 }],
  ['[1, /* last */ // and\r\n ]', [1]],
])('%j is read', (text, value) => {
  expect(parseCommentedJson(text)).toEqual(value);
});

test('what stands in texts stays as it is', () => {
  const text = '{"url": "http://a.test//b", "text": "a /* b */ \\" , ] }",}';
  const found = { url: 'http://a.test//b', text: 'a /* b */ " , ] }' };
  expect(parseCommentedJson(text)).toEqual(found);
});

test.each([
  '',
  '{',
  '[,]',
  '{/**/,}',
  '[,,]',
  '[1,,]',
  '{"a" 1}',
  '"a',
  '/* open',
  '{"a": 1} /',
  '1 2',
  '1/**/2',
  '"\\"\\"',
])('%j is refused', (text) => {
  expect(() => parseCommentedJson(text)).toThrow(SyntaxError);
});
