import { expect, test } from 'vitest';
import { onceOnly } from './request-key.ts';

test('each request has a key of its own, in characters that every service takes', () => {
  const keys = Array.from({ length: 100 }, () => onceOnly()['idempotency-key']);
  expect(new Set(keys).size).toBe(100);
  for (const key of keys) expect(key).toMatch(/^[\x21-\x7e]{32}$/);
});
