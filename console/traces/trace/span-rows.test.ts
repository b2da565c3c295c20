import { expect, test } from 'vitest';
import { keysAbove, layOutRows, visibleRows, type Placed } from './span-rows.ts';

function span(spanId: string, parentSpanId?: string): Placed {
  return parentSpanId === undefined ? { spanId } : { spanId, parentSpanId };
}

/** Rows as an indented text. */
function draw(spans: readonly Placed[]): string[] {
  return layOutRows(spans).map(
    ({ key, depth, isOrphan }) => `${'.'.repeat(depth)}${key}${isOrphan ? '?' : ''}`,
  );
}

test('children stand below their parent in the order they come in', () => {
  expect(draw([span('a'), span('c', 'a'), span('b', 'a'), span('d', 'c')])).toEqual([
    'a',
    '.c',
    '..d',
    '.b',
  ]);
});

test('a parent may come after its children', () => {
  expect(draw([span('b', 'a'), span('a')])).toEqual(['a', '.b']);
});

test('several roots and spans without their parent stand at the top', () => {
  expect(draw([span('a'), span('x', 'gone'), span('y', 'x'), span('b')])).toEqual([
    'a',
    'x?',
    '.y',
    'b',
  ]);
});

test('spans that are above themselves are shown once', () => {
  expect(draw([span('a', 'b'), span('b', 'a'), span('c', 'b'), span('s', 's')])).toEqual([
    's',
    'a',
    '.b',
    '..c',
  ]);
});

test('a span that came twice has two rows, and its children hang below the first', () => {
  expect(draw([span('a'), span('b', 'a'), span('b', 'a'), span('c', 'b')])).toEqual([
    'a',
    '.b',
    '..c',
    '.b#2',
  ]);
});

test('collapsed rows hide all that is below them', () => {
  const rows = layOutRows([span('a'), span('b', 'a'), span('c', 'b'), span('d', 'a'), span('e')]);
  expect(rows.map(({ below }) => below)).toEqual([3, 1, 0, 0, 0]);
  const keys = (collapsed: string[]) => visibleRows(rows, new Set(collapsed)).map(({ key }) => key);
  expect(keys([])).toEqual(['a', 'b', 'c', 'd', 'e']);
  expect(keys(['b'])).toEqual(['a', 'b', 'd', 'e']);
  expect(keys(['a', 'b'])).toEqual(['a', 'e']);
  expect(keysAbove(rows, 'c')).toEqual(['b', 'a']);
});

test('a chain of 50,000 spans is no deeper than the stack allows', () => {
  const chain = Array.from({ length: 50_000 }, (_, at) =>
    at === 0 ? span('0') : span(String(at), String(at - 1)),
  );
  const rows = layOutRows(chain);
  expect(rows.at(-1)?.depth).toBe(49_999);
  expect(rows[0]?.below).toBe(49_999);
});
