import { expect, test } from 'vitest';
import { namesIn, readJson, readObject } from './entry-text.ts';

test('names stand once, without the blanks around them', () => {
  expect(namesIn(' a ,,b\n a')).toEqual(['a', 'b']);
});

test('JSON is read, and what is none is told with the name of the field', () => {
  expect(readJson('[1]', 'the list')).toEqual([1]);
  expect(() => readJson('{', 'the list')).toThrow('the list is no JSON');
});

test('an object is no list, no text and not null', () => {
  expect(readObject('{"a":1}', 'the input')).toEqual({ a: 1 });
  for (const text of ['[]', '"a"', 'null', '1']) {
    expect(() => readObject(text, 'the input')).toThrow('the input must be a JSON object');
  }
});
