import { expect, test } from 'vitest';
import { flawOf, noFilters, readFilters, toQuery, writeFilters, type Filters } from './filters.ts';

const search: Filters = {
  ...noFilters,
  service: 'shop',
  name: 'GET /cart',
  agentId: 'researcher',
  status: 'error',
  min: '1.5s',
  range: 'custom',
  from: '2026-01-01T00:00:00.000Z',
  to: '2026-01-02T00:00:00.000Z',
  page: 3,
  size: 200,
  isLive: true,
};

test('a search is the same after a way through its address', () => {
  expect(readFilters(new URLSearchParams(writeFilters(search).toString()))).toEqual(search);
});

test('a search for nothing has an empty address', () => {
  expect(writeFilters(noFilters).toString()).toBe('');
  expect(readFilters(new URLSearchParams())).toEqual(noFilters);
});

test('what an address says wrongly counts as not said', () => {
  const odd = new URLSearchParams('status=odd&range=toString&page=-2&size=7');
  expect(readFilters(odd)).toEqual(noFilters);
});

test('the tracer is asked in milliseconds, and only for what was said', () => {
  expect(toQuery(search, 0)).toEqual({
    limit: 200,
    page: 3,
    startTime: search.from,
    endTime: search.to,
    service: 'shop',
    name: 'GET /cart',
    agentId: 'researcher',
    status: 'error',
    minDuration: 1_500,
  });
  expect(toQuery(noFilters, Date.parse('2026-01-02T00:00:00Z'))).toEqual({
    limit: 50,
    page: 1,
    startTime: '2026-01-01T00:00:00.000Z',
  });
});

test('a flaw is told in words', () => {
  expect(flawOf(search)).toBeUndefined();
  expect(flawOf({ ...search, max: 'long' })).toContain('“long” is no duration');
  expect(flawOf({ ...search, from: search.to, to: search.from })).toContain('ends before');
});
