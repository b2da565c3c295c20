import { afterEach, expect, test } from 'vitest';
import { LocalBus } from '../../kit/bus/local-bus.ts';
import { silentLog } from '../../kit/testing.ts';
import type { AgentProgress } from './orchestration.ts';
import { ProgressFeed } from './progress-feed.ts';

const bus = new LocalBus({ log: silentLog });
const open: ProgressFeed[] = [];

afterEach(async () => {
  for (const feed of open.splice(0)) await feed[Symbol.asyncDispose]();
});

async function openFeed(onAudience?: (hasListeners: boolean) => void): Promise<ProgressFeed> {
  const feed = new ProgressFeed({ bus, log: silentLog, ...(onAudience && { onAudience }) });
  open.push(feed);
  await feed.start();
  return feed;
}

let count = 0;
const progressOf = (over: Partial<AgentProgress> = {}): AgentProgress => ({
  agentId: 'a',
  taskId: `t${count}`,
  progress: 1,
  status: 'completed',
  message: '',
  ...over,
});

test('a listener that fails keeps nothing from the others', async () => {
  const feed = await openFeed();
  const told: string[] = [];
  feed.listen(() => {
    throw new Error('mine');
  });
  feed.listen(({ status }) => told.push(status));
  feed.tell(progressOf({ taskId: 'x' }));
  expect(told).toEqual(['completed']);
});

test('a task that has ended does not run again, whichever news came first', async () => {
  const feed = await openFeed();
  const told: unknown[] = [];
  feed.listen(({ status, ownerId }) => told.push([status, ownerId]));
  count += 1;
  feed.tellHere(progressOf());
  feed.tell(progressOf({ status: 'running', progress: 0, ownerId: 'ada' }));
  feed.tell(progressOf({ ownerId: 'ada' }));
  feed.tellHere(progressOf());
  expect(told).toEqual([['completed', undefined]]);
});

test('what is done for somebody is told to nobody else, also where the mesh tells it', async () => {
  const feed = await openFeed();
  const told: unknown[] = [];
  feed.listen(({ status, ownerId }) => told.push([status, ownerId]));
  count += 1;
  feed.tell(progressOf({ status: 'running', progress: 0, ownerId: 'ada' }));
  feed.tellHere(progressOf());
  feed.tell(progressOf({ ownerId: 'ada' }));
  feed.tellHere(progressOf());
  expect(told).toEqual([
    ['running', 'ada'],
    ['completed', 'ada'],
  ]);
});

test('it says when somebody begins to listen and when nobody does any more', async () => {
  const audiences: boolean[] = [];
  const feed = await openFeed((hasListeners) => audiences.push(hasListeners));
  const listener = () => {};
  const stops = [feed.listen(listener), feed.listen(listener)];
  stops[0]?.();
  stops[0]?.();
  expect(audiences).toEqual([true]);
  stops[1]?.();
  feed.listen(listener)();
  expect(audiences).toEqual([true, false, true, false]);
});
