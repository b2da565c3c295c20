import { expect, test } from 'vitest';
import { RevisionMarks } from './revision-marks.ts';

test('what may still be on its way into the table is read again, and nothing older', async () => {
  let nowMs = 0;
  const marks = new RevisionMarks(() => nowMs);
  const readAt = async (atMs: number, last: number, isAway = false) => {
    nowMs = atMs;
    let place: number | undefined;
    const work = marks.goOn(last, async (after) => {
      place = after;
      if (isAway) throw new Error('away');
    });
    await work.catch(() => {});
    return place;
  };
  expect(await readAt(0, 5)).toBe(0);
  expect(await readAt(10_000, 8)).toBe(0);
  expect(await readAt(15_000, 9, true)).toBe(0);
  // What took its revision before 0 s may have come since the reading at 10 s.
  expect(await readAt(16_000, 9)).toBe(0);
  expect(await readAt(17_000, 9)).toBe(5);
  expect(await readAt(40_000, 9)).toBe(5);
  expect(await readAt(41_000, 9)).toBeUndefined();
  expect(await readAt(42_000, 12)).toBe(9);
});
