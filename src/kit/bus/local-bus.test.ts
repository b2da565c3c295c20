import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { Gap } from './bus.ts';
import { LocalBus } from './local-bus.ts';

const log = pino({ level: 'silent' });

test('events older than the topic retains are gone, and their absence is told', async () => {
  let now = 1_000_000;
  const topic = new LocalBus({ log, now: () => now }).topic<number>('t', { retainSeconds: 60 });
  const first = await topic.publish(1);
  now += 40_000;
  const second = await topic.publish(2);
  now += 40_000;
  const seen: number[] = [];
  const gaps: Gap[] = [];
  const onGap = (gap: Gap): void => void gaps.push(gap);
  await topic.subscribe(({ data }) => void seen.push(data), { after: first - 1, onGap });
  expect(seen).toEqual([2]);
  expect(gaps).toEqual([{ from: first, to: second - 1 }]);
});

test('a process that starts later gives higher numbers, and knows the old ones as a gap', async () => {
  let now = 1_000_000;
  const former = new LocalBus({ log, now: () => now }).topic<number>('t');
  const last = await former.publish(1);
  now += 1;
  const topic = new LocalBus({ log, now: () => now }).topic<number>('t');
  const gaps: Gap[] = [];
  await topic.subscribe(() => {}, { after: last, onGap: (gap) => void gaps.push(gap) });
  const next = await topic.publish(2);
  expect(next).toBeGreaterThan(last);
  expect(gaps).toEqual([{ from: last + 1, to: next - 1 }]);
});

test('handlers run before publish returns', async () => {
  const topic = new LocalBus({ log }).topic<number>('t');
  const seen: number[] = [];
  await topic.subscribe(({ data }) => void seen.push(data));
  const publishing = topic.publish(1);
  expect(seen).toEqual([1]);
  await publishing;
});

test('what a handler publishes reaches everyone, even if it is more than is retained', async () => {
  const topic = new LocalBus({ log }).topic<number>('t', { retainCount: 2 });
  const seen: number[] = [];
  const gaps: Gap[] = [];
  const onGap = (gap: Gap): void => void gaps.push(gap);
  await topic.subscribe(({ data }) => void seen.push(data), { onGap });
  await topic.subscribe(({ data }) => {
    if (data === 1) for (const value of [2, 3, 4, 5]) void topic.publish(value);
  });
  await topic.publish(1);
  expect(seen).toEqual([1, 2, 3, 4, 5]);
  expect(gaps).toEqual([]);
});
