import { expect, test } from 'vitest';
import { Budget } from './budget.ts';

test('an evaluation that takes too long of the processor is refused', () => {
  let processorMs = 7;
  const budget = new Budget({ ms: 100, size: 1 }, () => processorMs);
  const late = performance.now() + 101;
  processorMs = 107;
  expect(() => budget.checkTime(late)).not.toThrow();
  processorMs = 108;
  expect(() => budget.checkTime(late)).toThrow('takes too long');
});

test('an evaluation is not refused for what other threads have of the processor', () => {
  let processorMs = 0;
  const budget = new Budget({ ms: 100_000, size: 1 }, () => processorMs);
  processorMs = 200_000;
  expect(() => budget.checkTime(performance.now())).not.toThrow();
});

test('an evaluation that brings forth too much is refused', () => {
  const budget = new Budget({ ms: 100_000, size: 10 });
  budget.spend(10);
  expect(() => budget.spend(1)).toThrow('brings forth too much');
});
