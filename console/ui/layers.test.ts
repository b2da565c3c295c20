import { expect, test } from 'vitest';
import { placeInLayers, type Arrow } from './layers.ts';

function arrows(...texts: string[]): Arrow[] {
  return texts.map((text) => {
    const [from = '', to = ''] = text.split('>');
    return { from, to };
  });
}

function columnsOf(ids: string, ...texts: string[]): string[] {
  const columns: string[] = [];
  for (const { id, layer } of placeInLayers(ids.split(''), arrows(...texts))) {
    columns[layer] = (columns[layer] ?? '') + id;
  }
  return columns;
}

test('each node stands behind all that lead to it', () => {
  expect(columnsOf('abcd', 'a>b', 'b>c', 'a>c', 'c>d')).toEqual(['a', 'b', 'c', 'd']);
});

test('a node without arrows stands in the first layer', () => {
  expect(columnsOf('abx', 'a>b')).toEqual(['ax', 'b']);
});

test('circles and arrows to their own node are let be', () => {
  expect(columnsOf('abc', 'a>b', 'b>c', 'c>b', 'c>c')).toEqual(['a', 'b', 'c']);
  expect(columnsOf('ab', 'a>b', 'b>a')).toEqual(['a', 'b']);
});

test('an arrow to nowhere is let be', () => {
  expect(columnsOf('a', 'a>z')).toEqual(['a']);
});

test('within a layer nodes stand beside their neighbours', () => {
  const places = placeInLayers('abxy'.split(''), arrows('a>y', 'b>x'));
  const rankOf = (wanted: string) => places.find(({ id }) => id === wanted)?.rank;
  expect(rankOf('a')).toBe(rankOf('y'));
  expect(rankOf('b')).toBe(rankOf('x'));
});

test('a chain of any length is laid out', () => {
  const ids = Array.from({ length: 5_000 }, (_, at) => String(at));
  const chain = ids.slice(1).map((to, at) => ({ from: String(at), to }));
  expect(placeInLayers(ids, chain).at(-1)).toMatchObject({ id: '4999', layer: 4_999 });
});
