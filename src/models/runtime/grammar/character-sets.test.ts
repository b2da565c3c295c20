import { expect, test } from 'vitest';
import { readCharacters, writeCharacters } from './character-sets.ts';

const characters = Array.from({ length: 0x250 }, (_, codePoint) => String.fromCodePoint(codePoint));

test.each([
  '.',
  'a',
  '\\.',
  '\\d',
  '\\D',
  '\\w',
  '\\W',
  '\\x41',
  '\\u0041',
  '\\u{1F600}',
  '[abc]',
  '[a-z_-]',
  '[-a]',
  '[+--]',
  '[^a-z]',
  '[\\w.+-]',
  '[^\\d\\]]',
  '[\\u00c0-\\u00ff"]',
])('%s stands for the characters that it matches', (source) => {
  const set = readCharacters(source) ?? [];
  const expression = new RegExp(`^${source}$`, 'u');
  const found = characters.filter((character) => {
    const codePoint = character.codePointAt(0) ?? 0;
    return set.some(([from, to]) => from <= codePoint && codePoint <= to);
  });
  expect(found).toEqual(characters.filter((character) => expression.test(character)));
});

test.each(['\\p{L}', '[\\p{L}]', '\\cA', '\\n', '[\\t]'])('%s has no words', (source) => {
  expect(readCharacters(source)).toBeUndefined();
});

test('a space of any kind is a plain one, and what is none is no space of any kind', () => {
  expect(readCharacters('\\s')).toEqual([[0x20, 0x20]]);
  const set = readCharacters('\\S') ?? [];
  const spaces = Array.from({ length: 0x10000 }, (_, at) => at).filter((at) =>
    /\s/.test(String.fromCodePoint(at)),
  );
  expect(spaces.filter((at) => set.some(([from, to]) => from <= at && at <= to))).toEqual([]);
});

test('what JSON has by escapes alone is not written', () => {
  expect(writeCharacters([[0, 0x1f]])).toBeUndefined();
  expect(writeCharacters([[0x1f, 0x21]])).toBe(String.raw`[ -\U00000021]`);
});
