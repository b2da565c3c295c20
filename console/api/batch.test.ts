import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Batch } from './batch.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function gather() {
  const taken: (readonly number[])[] = [];
  return { taken, batch: new Batch<number>(50, (gathered) => taken.push(gathered)) };
}

test('what comes in a row is handed over together, so long after the first of it', () => {
  const { taken, batch } = gather();
  batch.add(1);
  vi.advanceTimersByTime(40);
  batch.add(2);
  vi.advanceTimersByTime(10);
  expect(taken).toEqual([[1, 2]]);
  batch.add(3);
  vi.advanceTimersByTime(50);
  expect(taken).toEqual([[1, 2], [3]]);
});

test('what is gathered is handed over at once when that is asked, and only then', () => {
  const { taken, batch } = gather();
  batch.flush();
  batch.add(1);
  batch.flush();
  vi.advanceTimersByTime(100);
  expect(taken).toEqual([[1]]);
});

test('what was dropped is handed over to nobody', () => {
  const { taken, batch } = gather();
  batch.add(1);
  batch[Symbol.dispose]();
  vi.advanceTimersByTime(100);
  expect(taken).toEqual([]);
});
