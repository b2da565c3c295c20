import { expect, test } from 'vitest';
import { sumSpans, type Counted } from './statistics.ts';

const spans: readonly Counted[] = [
  { service: 'shop', name: 'GET /', status: 'success', durationUs: 3_000, selfUs: 1_000 },
  { service: 'shop', name: 'GET /', status: 'error', durationUs: 1_000, selfUs: 1_000 },
  { service: 'shop', name: 'SELECT', status: 'success', durationUs: 2_000, selfUs: 2_000 },
  { service: 'bank', name: 'GET /', status: 'timeout', durationUs: 5_000, selfUs: 0 },
];

test('spans are added up by operation, that of each service for itself', () => {
  expect(
    sumSpans(spans, 'operation').map(({ service, name, count }) => [service, name, count]),
  ).toEqual([
    ['shop', 'GET /', 2],
    ['shop', 'SELECT', 1],
    ['bank', 'GET /', 1],
  ]);
});

test('a group tells its errors, timeouts among them, and its times', () => {
  const [shop, bank] = sumSpans(spans, 'service');
  expect(shop).toEqual({
    service: 'shop',
    name: '',
    count: 3,
    errors: 1,
    totalUs: 6_000,
    longestUs: 3_000,
    medianUs: 2_000,
    selfUs: 4_000,
  });
  expect(bank?.errors).toBe(1);
});
