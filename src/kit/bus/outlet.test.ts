import { expect, test } from 'vitest';
import { silentLog } from '../testing.ts';
import type { Topic } from './bus.ts';
import { LocalBus } from './local-bus.ts';
import { Outlet } from './outlet.ts';

/** A topic that settles what is published only when it is told to. */
function openHeldTopic() {
  const published: number[] = [];
  const settle: (() => void)[] = [];
  const topic: Pick<Topic<number>, 'publish'> = {
    publish: (data) =>
      new Promise((resolve) => {
        published.push(data);
        settle.push(() => resolve(data));
      }),
  };
  return { topic: topic as Topic<number>, published, settle };
}

test('what waits for a bus that takes nothing is bounded', async () => {
  const { topic, published, settle } = openHeldTopic();
  const outlet = new Outlet({ topic, what: 'numbers', log: silentLog, waitingMax: 2 });
  for (const number of [1, 2, 3]) outlet.tell(number);
  expect(published).toEqual([1, 2]);
  for (const release of settle.splice(0)) release();
  await outlet[Symbol.asyncDispose]();
  outlet.tell(4);
  expect(published).toEqual([1, 2, 4]);
  for (const release of settle) release();
  await outlet[Symbol.asyncDispose]();
});

test('a loss is logged once, and again after the bus took something', async () => {
  const warnings: string[] = [];
  const log = Object.assign(Object.create(silentLog) as typeof silentLog, {
    warn: (_: unknown, text: string) => warnings.push(text),
  });
  let isAway = true;
  const publish = async (data: number) => {
    if (isAway) throw new Error('away');
    return data;
  };
  const topic: Pick<Topic<number>, 'publish'> = { publish };
  const outlet = new Outlet({ topic: topic as Topic<number>, what: 'numbers', log });
  const tell = async () => {
    outlet.tell(1);
    await outlet[Symbol.asyncDispose]();
  };
  await tell();
  await tell();
  expect(warnings).toEqual(['numbers are lost until the bus takes them again']);
  isAway = false;
  await tell();
  isAway = true;
  await tell();
  expect(warnings).toHaveLength(2);
});

test('what was told reaches who follows the topic', async () => {
  await using bus = new LocalBus({ log: silentLog });
  const outlet = new Outlet({ topic: bus.topic<number>('numbers'), what: 'x', log: silentLog });
  const seen: number[] = [];
  await outlet.topic.subscribe(({ data }) => seen.push(data));
  outlet.tell(7);
  await outlet[Symbol.asyncDispose]();
  expect(seen).toEqual([7]);
});
