import { describe, expect, test } from 'vitest';
import { textsOf } from './patterns.ts';

describe('a pattern is not held that', () => {
  test.each([
    ['is no expression', '('],
    ['looks ahead', '(?=a)b'],
    ['looks behind', '(?<!a)b'],
    ['refers back', '(a)\\1'],
    ['has an edge in its middle', 'a\\bb'],
    ['names a property of characters', '^\\p{L}$'],
    ['is only written by escapes', '^\\n$'],
    ['repeats what may be empty', '^(?:a*)*$'],
    ['repeats nothing without end', '^(?:)*(?:a?)+$'],
    ['has too many places', '^[a-z]{251}$'],
    ['leaves too much open', '^(?:(?:a|b)?){100}$'],
    ['leaves too much open within', '^(?:a?b?c?){12}$'],
  ])('%s', (_why, pattern) => {
    expect(textsOf(pattern)).toBeUndefined();
  });
});

test('nothing that is repeated without end takes long to be found out', () => {
  const nothing = '('.repeat(40) + '){1000}'.repeat(40);
  expect(textsOf(nothing)).toMatchObject({ shortest: 0 });
});

test.each([
  ['^[A-Z]{2}\\d{3,4}$', 5, 6],
  ['^(?:a|bcd)?$', 0, 3],
  ['^a+$', 1, Infinity],
  ['a', 1, Infinity],
  ['^$', 0, 0],
  ['^(?:a*){0}$', 0, 0],
])('the texts of %s have their lengths', (pattern, shortest, longest) => {
  expect(textsOf(pattern)).toMatchObject({ shortest, longest });
});

test('what JSON escapes is written as it is in a text', () => {
  expect(textsOf('^["\\\\]$')?.expression).toBe(String.raw`( ( "\\\"" | "\\\\" ) )`);
  expect(textsOf('^[a-c_"-]$')?.expression).toBe(String.raw`( ( [\U0000002D_a-c] | "\\\"" ) )`);
});
