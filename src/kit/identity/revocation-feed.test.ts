import { afterEach, expect, test, vi } from 'vitest';
import { openBus } from '../bus/open-bus.ts';
import { silentLog } from '../testing.ts';
import { RevocationFeed, type RevocationPage } from './revocation-feed.ts';
import { RevocationList, revocationsStaleMs, type Revocation } from './revocations.ts';

const now = () => Math.floor(Date.now() / 1000);
const revocationOf = (id: string): Revocation => ({
  kind: 'token',
  id,
  revokedAt: now(),
  expiresAt: now() + 3600,
});
const token = (tokenId: string) => ({
  tokenId,
  sessionId: 'ses',
  subject: 'sub',
  keyId: 'key',
  tokenEpoch: 0,
});

const opened: AsyncDisposable[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const one of opened.splice(0)) await one[Symbol.asyncDispose]();
});

async function createFeed(fetchPage: (after: number) => Promise<RevocationPage>) {
  const bus = await openBus({ log: silentLog });
  const topic = bus.topic<Revocation>('revocations');
  const list = new RevocationList({ staleMs: revocationsStaleMs });
  const feed = new RevocationFeed({ list, fetchPage, topic, log: silentLog });
  opened.push(feed, bus);
  return { feed, list, topic };
}

test('nothing is trusted before the issuer was read once', async () => {
  const { feed, list } = await createFeed(() => Promise.reject(new Error('away')));
  await feed.start();
  expect(() => list.requireFresh()).toThrow('revocations cannot be read now');
});

test('what was revoked before is read page by page', async () => {
  const all = ['a', 'b', 'c'].map(revocationOf);
  const { feed, list } = await createFeed(async (after) => {
    const revocations = all.slice(after, after + 2);
    return { revocations, next: after + revocations.length };
  });
  await feed.start();
  expect(() => list.requireFresh()).not.toThrow();
  expect(['a', 'b', 'c', 'd'].map((id) => list.covers(token(id)))).toEqual([
    true,
    true,
    true,
    false,
  ]);
});

test('what the bus brings is in force at once', async () => {
  const { feed, list, topic } = await createFeed(async (after) => ({
    revocations: [],
    next: after,
  }));
  await feed.start();
  await topic.publish(revocationOf('published'));
  expect(list.covers(token('published'))).toBe(true);
});

test('the issuer is asked again and again, also after it was away', async () => {
  let isAway = true;
  const { feed, list } = await createFeed(async (after) => {
    if (isAway) throw new Error('away');
    const revocations = after === 0 ? [revocationOf('late')] : [];
    return { revocations, next: 1 };
  });
  await feed.start();
  isAway = false;
  await expect.poll(() => list.covers(token('late'))).toBe(true);
});

test('a list that was not read for five minutes is not trusted any more', async () => {
  let isAway = false;
  const { feed, list } = await createFeed(async (after) => {
    if (isAway) throw new Error('away');
    return { revocations: [], next: after };
  });
  await feed.start();
  isAway = true;
  vi.useFakeTimers({ now: Date.now() + 299_000, toFake: ['Date'] });
  expect(() => list.requireFresh()).not.toThrow();
  vi.setSystemTime(Date.now() + 2_000);
  expect(() => list.requireFresh()).toThrow('revocations cannot be read now');
});
