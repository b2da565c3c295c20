import { expect, test } from 'vitest';
import { parseCount, parseWhole, readItems } from './pages.ts';

const all = Array.from({ length: 250 }, (_, at) => at);
const fetch = async ({ limit, offset }: { readonly limit: number; readonly offset: number }) => ({
  items: all.slice(offset, offset + limit),
  total: all.length,
});

test.each(['-1', '1.5', '', 'x', '0x1', ' 1', '1e3'])('%j is no number of items', (text) => {
  expect(() => parseCount(text)).toThrow('It must be a whole number above 0.');
  expect(() => parseWhole(text)).toThrow('It must be a whole number, 0 or more.');
});

test('what may be 0 is told from what may not', () => {
  expect(parseWhole('0')).toBe(0);
  expect(() => parseCount('0')).toThrow('It must be a whole number above 0.');
});

test.each([
  [250, 0, all],
  [120, 0, all.slice(0, 120)],
  [120, 100, all.slice(100, 220)],
  [120, 200, all.slice(200)],
  [120, 300, []],
])('%d items from %d on are read page by page', async (limit, offset, items) => {
  expect(await readItems(limit, fetch, offset)).toEqual({
    items,
    rest: { total: 250, limit, offset },
  });
});
