import { expect, test } from 'vitest';
import {
  hasWords,
  linesIn,
  namesIn,
  pairsIn,
  readJson,
  readNested,
  readObject,
  wordsIn,
} from './entry-text.ts';

test('names stand once, without the blanks around them', () => {
  expect(namesIn(' a ,,b\n a')).toEqual(['a', 'b']);
});

test('words and lines stand without what is between them', () => {
  expect(wordsIn(' a,b\n c ')).toEqual(['a', 'b', 'c']);
  expect(linesIn(' a b\n\n c')).toEqual(['a b', 'c']);
});

test('pairs are read at the first sign, and a line without it is told', () => {
  expect(pairsIn('A=b=c\n', '=')).toEqual({ A: 'b=c' });
  expect(() => pairsIn('nothing', '=')).toThrow('“nothing” has no “=”');
  expect(() => pairsIn('=x', '=')).toThrow('“=x” has no “=”');
});

test('all words of a query have to be there, in any order and case', () => {
  expect(hasWords('GPT of OpenAI', ' openai gpt ')).toBe(true);
  expect(hasWords('GPT of OpenAI', 'gpt mistral')).toBe(false);
});

test('only objects and lists are read out of a text', () => {
  expect(['{"a":1}', ' [1]', '12', '{', '"a"'].map(readNested)).toEqual([
    { a: 1 },
    [1],
    '12',
    '{',
    '"a"',
  ]);
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
