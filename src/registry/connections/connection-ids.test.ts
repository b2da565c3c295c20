import { expect, test } from 'vitest';
import { ConnectionIds } from './connection-ids.ts';

test('ids sort as they were made, many in a millisecond and when the clock goes back', () => {
  let now = 1_796_084_864_000;
  const ids = new ConnectionIds(() => now);
  const made = Array.from({ length: 10_000 }, () => ids.next());
  now += 60_000;
  made.push(ids.next());
  now -= 30_000;
  made.push(ids.next(), ids.next());
  expect(made.toSorted()).toEqual(made);
  expect(new Set(made).size).toBe(made.length);
  for (const id of made) expect(id).toMatch(/^con_[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}$/);
});
