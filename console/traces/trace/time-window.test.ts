import { expect, test } from 'vitest';
import { barOf, shareOf, timeAt, wholeOf, windowAround, windowBetween } from './time-window.ts';

const whole = { fromUs: 0, toUs: 1_000 };

test('the whole reaches from the first start to the last end', () => {
  expect(
    wholeOf([
      { offsetUs: 0, durationUs: 10 },
      { offsetUs: -5, durationUs: 2 },
      { offsetUs: 8, durationUs: 40 },
    ]),
  ).toEqual({ fromUs: -5, toUs: 48 });
  expect(wholeOf([])).toEqual({ fromUs: 0, toUs: 1 });
});

test('a window around a span stays within the whole', () => {
  expect(windowAround({ offsetUs: 0, durationUs: 100 }, whole)).toEqual({ fromUs: 0, toUs: 105 });
  expect(windowAround({ offsetUs: 500, durationUs: 0 }, whole)).toEqual({ fromUs: 499, toUs: 501 });
});

test('a window may be drawn from either side and is never empty', () => {
  expect(windowBetween(800, 200, whole)).toEqual({ fromUs: 200, toUs: 800 });
  expect(windowBetween(2_000, 2_000, whole)).toEqual({ fromUs: 999, toUs: 1_000 });
});

test('bars are cut at the window, and not drawn outside of it', () => {
  const window = { fromUs: 200, toUs: 400 };
  expect(barOf({ offsetUs: 100, durationUs: 200 }, window)).toEqual({ start: 0, length: 0.5 });
  expect(barOf({ offsetUs: 500, durationUs: 100 }, window)).toBeUndefined();
  expect(barOf({ offsetUs: 0, durationUs: 100 }, window)).toBeUndefined();
  expect(timeAt(shareOf(300, window), window)).toBe(300);
});
