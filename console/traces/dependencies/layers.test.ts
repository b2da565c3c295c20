import { expect, test } from 'vitest';
import { placeInLayers, type Call } from './layers.ts';

function calls(...texts: string[]): Call[] {
  return texts.map((text) => {
    const [from = '', to = ''] = text.split('>');
    return { from, to };
  });
}

function columnsOf(ids: string, ...texts: string[]): string[] {
  const columns: string[] = [];
  for (const { id, layer } of placeInLayers(ids.split(''), calls(...texts))) {
    columns[layer] = (columns[layer] ?? '') + id;
  }
  return columns;
}

test('who is called stands behind all who call it', () => {
  expect(columnsOf('abcd', 'a>b', 'b>c', 'a>c', 'c>d')).toEqual(['a', 'b', 'c', 'd']);
});

test('who neither calls nor is called stands in the first layer', () => {
  expect(columnsOf('abx', 'a>b')).toEqual(['ax', 'b']);
});

test('circles and calls of oneself are laid out too', () => {
  expect(columnsOf('abc', 'a>b', 'b>c', 'c>b', 'c>c')).toEqual(['a', 'b', 'c']);
  expect(columnsOf('ab', 'a>b', 'b>a')).toEqual(['a', 'b']);
});

test('a call of something unknown is left out', () => {
  expect(columnsOf('a', 'a>z')).toEqual(['a']);
});

test('within a layer nodes stand beside those they call', () => {
  const places = placeInLayers('abxy'.split(''), calls('a>y', 'b>x'));
  const rankOf = (wanted: string) => places.find(({ id }) => id === wanted)?.rank;
  expect(rankOf('a')).toBe(rankOf('y'));
  expect(rankOf('b')).toBe(rankOf('x'));
});
