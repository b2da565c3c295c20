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
    runBounded(work, 20, performance.now.bind(performance));
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

/** The clock of a process that gets none of the processor. */
const standing = () => 0;

test('what the machine leaves no time for is no endless work: it is given longer', () => {
  let runs = 0;
  const work = () => {
    runs += 1;
    if (runs < 3) for (;;);
    return 'done';
  };
  expect(runBounded(work, 5, standing)).toBe('done');
});

test('a machine that leaves no time at all is what fails, not the work', () => {
  const work = () => {
    for (;;);
  };
  const refusal = expect.objectContaining({ code: 'unavailable' });
  expect(() => runBounded(work, 5, standing)).toThrow(refusal);
});
