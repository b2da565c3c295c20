import { expect, test } from 'vitest';
import { daysBetween, layColumns } from './columns.ts';

test('the greatest value fills the height, and others their share of it', () => {
  const bars = layColumns([1, 4, 0, 2], { width: 400, height: 100 });
  expect(bars.map(({ height }) => height)).toEqual([25, 100, 0, 50]);
  expect(bars.map(({ x }) => x)).toEqual([10, 110, 210, 310]);
  expect(bars[0]).toEqual({ x: 10, y: 75, width: 80, height: 25 });
});

test('where all is nothing there is nothing to see', () => {
  expect(layColumns([0, 0], { width: 10, height: 10 }).every(({ height }) => height === 0)).toBe(
    true,
  );
  expect(layColumns([], { width: 10, height: 10 })).toEqual([]);
});

test('days go on over the end of a month, and none lie between what is turned round', () => {
  expect(daysBetween('2026-02-27', '2026-03-01')).toEqual([
    '2026-02-27',
    '2026-02-28',
    '2026-03-01',
  ]);
  expect(daysBetween('2026-03-01', '2026-02-27')).toEqual([]);
  expect(daysBetween('', '2026-02-27')).toEqual([]);
});
