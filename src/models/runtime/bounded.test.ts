import { expect, test } from 'vitest';
import { isOutOfTime, runBounded } from './bounded.ts';

test('what never ends is ended, whatever it would catch', () => {
  const work = () => {
    try {
      for (;;);
    } catch {
      return 'caught';
    }
  };
  let thrown: unknown;
  try {
    runBounded(work, 20);
  } catch (error) {
    thrown = error;
  }
  expect(isOutOfTime(thrown)).toBe(true);
});

test('an error of the work is thrown as it is', () => {
  const error = new Error('bad template');
  const work = () => {
    throw error;
  };
  expect(() => runBounded(work, 60_000)).toThrow(error);
  expect(isOutOfTime(error)).toBe(false);
});

test('what ends in time answers', () => {
  expect(runBounded(() => 'done', 60_000)).toBe('done');
});
