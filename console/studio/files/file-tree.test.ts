import { expect, test } from 'vitest';
import { changeFiles, foldersAbove, growTree, rowsFound, rowsOf } from './file-tree.ts';

const paths = ['README.md', 'src/b.ts', 'src/a.ts', 'src/deep/c.ts', 'docs/a.md'];

test('shows folders before files, and closed ones without what is in them', () => {
  const rows = rowsOf(growTree(paths), new Set());
  expect(rows.map(({ path }) => path)).toEqual(['docs', 'src', 'README.md']);
});

test('shows what is in open folders below them', () => {
  const rows = rowsOf(growTree(paths), new Set(['src']));
  expect(rows.map(({ path, depth }) => `${depth} ${path}`)).toEqual([
    '0 docs',
    '0 src',
    '1 src/deep',
    '1 src/a.ts',
    '1 src/b.ts',
    '0 README.md',
  ]);
});

test('finds files by any part of their path', () => {
  expect(rowsFound(paths, 'SRC/').map(({ path }) => path)).toEqual([
    'src/b.ts',
    'src/a.ts',
    'src/deep/c.ts',
  ]);
});

test('knows the folders above a path', () => {
  expect(foldersAbove('a/b/c.ts')).toEqual(['a', 'a/b']);
  expect(foldersAbove('c.ts')).toEqual([]);
});

test('takes changes in, and leaves what was there before as it was', () => {
  const file = { path: 'a', hash: 'h', size: 1, executable: false, seq: 1 };
  const before = new Map([['a', file]]);
  const changes = [
    { path: 'b', file },
    { path: 'a', file: undefined },
  ];
  expect([...changeFiles(before, changes).keys()]).toEqual(['b']);
  expect([...before.keys()]).toEqual(['a']);
});
