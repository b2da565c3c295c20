import { expect, test } from 'vitest';
import { AgentQueue } from './agent-queue.ts';
import type { Priority } from './task.ts';

const limits = { concurrency: 1, lengthMax: 100 };

/** A queue with one task running, and the order in which those that are added get their turn. */
async function busyQueue() {
  const queue = new AgentQueue();
  await queue.enter('normal', limits, new AbortController().signal);
  const order: string[] = [];
  const add = (priority: Priority, name: string = priority, signal?: AbortSignal) =>
    queue
      .enter(priority, limits, signal ?? new AbortController().signal)
      .then(() => order.push(name))
      .catch(() => order.push(`${name} gave up`));
  const drain = async (count: number) => {
    for (let turn = 0; turn < count; turn += 1) {
      queue.leave();
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  return { queue, order, add, drain };
}

test('more tasks than may wait are refused', async () => {
  const queue = new AgentQueue();
  const { signal } = new AbortController();
  const none = { concurrency: 1, lengthMax: 0 };
  await queue.enter('low', none, signal);
  const refused = queue.enter('critical', none, signal);
  await expect(refused).rejects.toMatchObject({ reason: 'agent_queue_full', status: 503 });
});

test('the most urgent task goes first, and of equals the first that came', async () => {
  const { add, drain, order } = await busyQueue();
  for (const name of ['low 1', 'normal 1', 'critical 1', 'high 1', 'critical 2', 'normal 2']) {
    void add(name.slice(0, -2) as Priority, name);
  }
  await drain(6);
  expect(order).toEqual(['critical 1', 'critical 2', 'high 1', 'normal 1', 'normal 2', 'low 1']);
});

test('a task that gives up makes no room that nobody left', async () => {
  const { queue, add, drain, order } = await busyQueue();
  const leaving = new AbortController();
  void add('critical', 'leaver', leaving.signal);
  void add('low');
  leaving.abort();
  await expect.poll(() => order).toEqual(['leaver gave up']);
  await drain(2);
  expect(order).toEqual(['leaver gave up', 'low']);
  expect(queue.isIdle).toBe(true);
});

test('an unimportant task gets its turn although urgent ones keep coming', async () => {
  const { add, drain, order } = await busyQueue();
  void add('low');
  for (let count = 0; count < 20; count += 1) void add('critical');
  await drain(16);
  expect(order.indexOf('low')).toBe(15);
});
