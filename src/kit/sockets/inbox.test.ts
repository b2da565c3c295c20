import { expect, test } from 'vitest';
import { Inbox } from './inbox.ts';

function createInbox() {
  const events: string[] = [];
  const inbox = new Inbox({
    pause: () => events.push('pause'),
    resume: () => events.push('resume'),
    report: (error) => events.push(String(error)),
  });
  return { inbox, events };
}

/** Lets all that is due happen. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

test('a handler that fails is reported and gets the next message', async () => {
  const { inbox, events } = createInbox();
  inbox.attach(async (text) => {
    events.push(text);
    if (text === 'a') throw new Error('broken');
  });
  inbox.add('a');
  inbox.add('b');
  await settle();
  expect(events).toEqual(['a', 'Error: broken', 'b']);
});

test('messages are handled one after the other, those before the handler came too', async () => {
  const { inbox, events } = createInbox();
  inbox.add('a');
  inbox.add('b');
  inbox.attach(async (text) => {
    events.push(`${text} begins`);
    await settle();
    events.push(`${text} ends`);
    if (text === 'c') inbox.close();
  });
  inbox.add('c');
  while (!events.includes('c ends')) await settle();
  expect(events).toEqual(['a', 'b', 'c'].flatMap((text) => [`${text} begins`, `${text} ends`]));
});

test('a flood pauses its source until enough was handled', async () => {
  const { inbox, events } = createInbox();
  for (let count = 0; count < 3; count += 1) inbox.add('x'.repeat(30_000));
  expect(events).toEqual(['pause']);
  inbox.attach(() => {});
  await settle();
  expect(events).toEqual(['pause', 'resume']);
});

test('empty messages count in a flood as well', () => {
  const { inbox, events } = createInbox();
  for (let count = 0; count <= 64 * 1024; count += 1) inbox.add('');
  expect(events).toEqual(['pause']);
});

test('a closed inbox drops what waits and lets its source flow', async () => {
  const { inbox, events } = createInbox();
  inbox.add('x'.repeat(100_000));
  inbox.close();
  inbox.attach((text) => void events.push(text));
  inbox.add('late');
  await settle();
  expect(events).toEqual(['pause', 'resume']);
});
