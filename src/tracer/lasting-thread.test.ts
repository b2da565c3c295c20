import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { LastingThread } from './lasting-thread.ts';

/** Answers what it is told, and dies when it is told to. */
const echo = `
  const { parentPort } = require('node:worker_threads');
  parentPort.on('message', (text) => {
    if (text === 'die') throw new Error('told to');
    parentPort.postMessage(text);
  });
`;

test('a thread that dies is told of and replaced, and hears nothing meant for the one before', async () => {
  const replies: string[] = [];
  const deaths: unknown[] = [];
  let restarts = 0;
  await using thread = new LastingThread<string, string>({
    start: () => new Worker(echo, { eval: true }),
    onReply: (reply) => replies.push(reply),
    onDeath: (reason) => deaths.push(reason),
    onRestart: () => (restarts += 1),
  });
  const first = thread.current;
  thread.post('one');
  await expect.poll(() => replies).toEqual(['one']);
  thread.post('die');
  await expect.poll(() => deaths).toEqual([expect.objectContaining({ message: 'told to' })]);
  expect(thread.current).toBeUndefined();
  thread.post('lost');
  await expect.poll(() => restarts).toBe(1);
  thread.post('for the first', [], first);
  thread.post('two');
  await expect.poll(() => replies).toEqual(['one', 'two']);
});
