import { expect, test } from 'vitest';
import { moveBy, type TreeState } from './moves.ts';
import { layOutRows, visibleRows } from './span-rows.ts';

const all = layOutRows([
  { spanId: 'a' },
  { spanId: 'b', parentSpanId: 'a' },
  { spanId: 'c', parentSpanId: 'b' },
  { spanId: 'd', parentSpanId: 'a' },
]);

function press(keys: readonly string[], start: Partial<TreeState> = {}): string {
  let state: TreeState = { collapsed: new Set(), chosen: undefined, ...start };
  for (const key of keys) state = moveBy(key, visibleRows(all, state.collapsed), state) ?? state;
  return `${state.chosen} -${[...state.collapsed].join('')}`;
}

test('up and down go from row to row and stop at the ends', () => {
  expect(press(['ArrowDown'])).toBe('a -');
  expect(press(['ArrowDown', 'ArrowDown', 'ArrowUp', 'ArrowUp', 'ArrowUp'])).toBe('a -');
  expect(press(['End', 'ArrowDown'])).toBe('d -');
  expect(press(['End', 'Home'])).toBe('a -');
});

test('left collapses, then goes up; right opens, then goes down', () => {
  expect(press(['ArrowLeft'], { chosen: 'b' })).toBe('b -b');
  expect(press(['ArrowLeft', 'ArrowLeft'], { chosen: 'b' })).toBe('a -b');
  expect(press(['ArrowLeft', 'ArrowDown'], { chosen: 'b' })).toBe('d -b');
  expect(press(['ArrowRight'], { chosen: 'b', collapsed: new Set('b') })).toBe('b -');
  expect(press(['ArrowRight', 'ArrowRight'], { chosen: 'b' })).toBe('c -');
});

test('other keys mean nothing', () => {
  expect(moveBy('x', all, { collapsed: new Set(), chosen: 'a' })).toBeUndefined();
  expect(moveBy('ArrowLeft', all, { collapsed: new Set(), chosen: undefined })).toBeUndefined();
});
