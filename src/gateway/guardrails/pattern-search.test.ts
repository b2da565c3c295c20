import { expect, test } from 'vitest';
import { PatternSearch } from './pattern-search.ts';

test.each([
  ['(?=a)b', 'looks ahead'],
  ['(?<!a)b', 'ahead or behind'],
  ['(a)\\1', 'refers back'],
  ['(?<x>a)\\k<x>', 'refers back'],
  ['a{2000}', 'more than 1000'],
  ['(((a{100}){100}){100})', 'repeat too much'],
  ['(a', 'Unterminated group'],
  ['[b-a]', 'out of order'],
  ['a)', 'Unmatched'],
])('%s is refused', (pattern, why) => {
  expect(() => new PatternSearch([pattern])).toThrow(why);
});

const texts = [
  '',
  'a',
  'ab',
  'aab',
  'abab b',
  'foo bar',
  'a-b_c',
  'x12y',
  '2024-01-02',
  'line\nnext',
  'Ärger über Öl',
  '🙂 smile',
  'tab\tend',
  '((]))',
  'AAAaaa',
];

test.each([
  'a',
  'a|b',
  'a*b',
  '^a+b$',
  '(?:ab)+ b',
  '(ab|a)(b|)b',
  'a?a?b',
  '\\bbar\\b',
  '\\Bar\\b',
  '^$',
  '^',
  'a{2}b',
  'a{2,}',
  'a{1,2}b',
  '[^a-z\\s]',
  '[\\]\\)]+',
  '\\d{4}-\\d\\d',
  '\\p{L}{5}',
  '\\u{1F642}',
  '.n.x',
  '(?<name>o+) b',
  '(a*)*b',
  '(?:a|ab)*?c',
  '\\t.*d$',
  'ÖL',
])('%s finds what a regular expression finds', (pattern) => {
  const search = new PatternSearch([pattern]);
  const expression = new RegExp(pattern, 'isu');
  for (const text of texts) {
    expect([text, search.find(text) !== undefined]).toEqual([text, expression.test(text)]);
  }
});

test('the pattern that is complete first is the one that is said', () => {
  const search = new PatternSearch(['world', 'hello', 'hell']);
  expect(search.find('well, hello world')).toBe(2);
  expect(search.find('a world of hello')).toBe(0);
  expect(search.find('nothing')).toBeUndefined();
});

test('patterns that take a backtracking search forever take linear time', () => {
  const search = new PatternSearch(['(a+)+$x', '(a|aa)*b!', 'a*a*a*a*a*c', '(.*)(.*)(.*)z9']);
  const startedAt = process.cpuUsage();
  expect(search.find('a'.repeat(200_000))).toBeUndefined();
  const { user } = process.cpuUsage(startedAt);
  expect(user).toBeLessThan(5_000_000);
});

test('a text of more characters than are remembered is searched to its end', () => {
  const search = new PatternSearch(['\\bz\\p{Lu}+q']);
  const characters = Array.from({ length: 60_000 }, (_, at) => String.fromCodePoint(0x3400 + at));
  const text = characters.join('');
  expect(search.find(text)).toBeUndefined();
  expect(search.find(`${text} zAq`)).toBe(0);
});
