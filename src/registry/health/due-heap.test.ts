import { expect, test } from 'vitest';
import { DueHeap } from './due-heap.ts';

test('ids come out by when they are due, after any changes', () => {
  const heap = new DueHeap();
  const due = new Map<string, number>();
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed % below;
  };
  for (let step = 0; step < 20_000; step += 1) {
    const id = `c${random(500)}`;
    if (random(4) === 0) {
      heap.delete(id);
      due.delete(id);
    } else {
      const dueMs = random(1_000_000);
      heap.set(id, dueMs);
      due.set(id, dueMs);
    }
  }
  expect(heap.size).toBe(due.size);
  expect(heap.firstMs).toBe(Math.min(...due.values()));
  const taken: number[] = [];
  for (let id = heap.take(Infinity); id !== undefined; id = heap.take(Infinity)) {
    taken.push(due.get(id) ?? Number.NaN);
  }
  expect(taken).toEqual([...due.values()].toSorted((a, b) => a - b));
  expect(heap.firstMs).toBe(Number.POSITIVE_INFINITY);
});

test('nothing is taken before its time', () => {
  const heap = new DueHeap();
  heap.set('a', 10);
  heap.delete('unknown');
  expect(heap.take(9)).toBeUndefined();
  expect(heap.take(10)).toBe('a');
});
