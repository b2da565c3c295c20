import { expect, test } from 'vitest';
import { Retained } from './retained.ts';

/** Seqs as they are: microseconds of the clock. */
const before = 1_790_000_000_000_000;

test('every event is found under its seq, however many are kept and dropped', () => {
  const events = new Retained<number>(before);
  for (let count = 1; count <= 500; count += 1) {
    expect(events.add({ text: String(count) }, count)).toBe(before + count);
    if (count % 3 === 0) events.dropOldest();
  }
  const { first, last, size, oldestAt } = events;
  expect([first, last, size, oldestAt]).toEqual([before + 167, before + 500, 334, 167]);
  for (let seq = first; seq <= last; seq += 1) {
    expect(events.find(seq)).toEqual({ seq, data: seq - before, publishedAt: seq - before });
  }
  expect([events.find(first - 1), events.find(last + 1)]).toEqual([undefined, undefined]);
});

test('all who ask for an event get the same one', () => {
  const events = new Retained<object>(before);
  const seq = events.add({ text: '{"name":"one"}' }, 1);
  expect(events.find(seq)).toBe(events.find(seq));
});

test('what is empty stays so, and goes on with the next number', () => {
  const events = new Retained<number>(before);
  events.dropOldest();
  expect([events.size, events.oldestAt]).toEqual([0, Number.POSITIVE_INFINITY]);
  events.add({ text: '1' }, 1);
  events.clear();
  expect([events.size, events.find(before + 1)]).toEqual([0, undefined]);
  expect(events.add({ text: '2' }, 2)).toBe(before + 2);
});
