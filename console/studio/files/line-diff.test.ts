import { expect, test } from 'vitest';
import { diffLines, pairLines } from './line-diff.ts';

function write(left: string, right: string): string {
  const signs = { both: ' ', left: '-', right: '+' };
  return diffLines(left, right)
    .map(({ side, text }) => `${signs[side]}${text}`)
    .join('|');
}

test('finds nothing to tell between equal texts', () => {
  expect(write('a\nb\n', 'a\nb\n')).toBe(' a| b| ');
});

test('finds the line that was changed between those that were not', () => {
  expect(write('a\nb\nc', 'a\nB\nc')).toBe(' a|-b|+B| c');
});

test('finds lines that came and went', () => {
  expect(write('a\nb\nc\nd', 'b\nx\nd\ne')).toBe('-a| b|-c|+x| d|+e');
});

test('puts what was changed beside what it became', () => {
  expect(pairLines(diffLines('a\nb\nc', 'a\nB\nB2\nc'))).toEqual([
    { left: 'a', right: 'a', isSame: true },
    { left: 'b', right: 'B', isSame: false },
    { right: 'B2', isSame: false },
    { left: 'c', right: 'c', isSame: true },
  ]);
});

test('counts a very large difference as changed as a whole', () => {
  const left = Array.from({ length: 3_000 }, (_, line) => `l${line}`).join('\n');
  const right = Array.from({ length: 3_000 }, (_, line) => `r${line}`).join('\n');
  const sides = new Set(diffLines(left, right).map(({ side }) => side));
  expect(sides).toEqual(new Set(['left', 'right']));
});
