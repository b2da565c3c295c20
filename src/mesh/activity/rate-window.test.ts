import { expect, test } from 'vitest';
import { RateWindow } from './rate-window.ts';

test('nothing has a rate and a mean of 0', () => {
  const window = new RateWindow(60, () => 5_500);
  expect([window.perSecond, window.mean]).toEqual([0, 0]);
});

test('the rate counts over the time that has passed, at most the window', () => {
  let nowMs = 10_300;
  const window = new RateWindow(10, () => nowMs);
  for (let count = 0; count < 20; count += 1) window.add(count);
  expect([window.perSecond, window.mean]).toEqual([20, 9.5]);
  nowMs += 4_000;
  expect(window.perSecond).toBe(5);
  nowMs += 5_000;
  expect(window.mean).toBe(9.5);
  nowMs += 1_000;
  expect([window.perSecond, window.mean]).toEqual([0, 0]);
  window.add(3);
  expect([window.perSecond, window.mean]).toEqual([0.1, 3]);
  nowMs += 1_000_000;
  expect(window.perSecond).toBe(0);
});

test('a clock that goes back neither loses nor invents anything', () => {
  let nowMs = 100_000;
  const window = new RateWindow(10, () => nowMs);
  window.add(1);
  nowMs -= 50_000;
  window.add(3);
  expect(window.mean).toBe(2);
});
