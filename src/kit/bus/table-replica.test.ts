import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { silentLog } from '../testing.ts';
import { LocalBus } from './local-bus.ts';
import type { Bus, Topic } from './bus.ts';
import { newsRetention, rereadMs, TableReplica, type TableNews } from './table-replica.ts';

interface Version {
  readonly id: string;
  readonly revision: number;
}

interface Row extends Version {
  readonly text: string;
}

type News = TableNews<Row, Version, Version>;

/** What all replicas share. */
let table: Map<string, Row>;
let bus: Bus;
let isBusAway: boolean;
let published: News[];
/** The newest revision that was given out. */
let last: number;
const replicas: TableReplica<Row, Version, Version>[] = [];

beforeEach(() => {
  table = new Map();
  bus = new LocalBus({ log: silentLog });
  isBusAway = false;
  published = [];
  last = 0;
});

afterEach(async () => {
  for (const replica of replicas.splice(0)) await replica[Symbol.asyncDispose]();
  await bus[Symbol.asyncDispose]();
});

async function open(ownBus = bus) {
  const memory = new Map<string, Row>();
  const topic = ownBus.topic<News>('notes', newsRetention);
  const own: Topic<News> = {
    publish: async (news) => {
      if (isBusAway) throw new Error('away');
      published.push(news);
      return topic.publish(news);
    },
    subscribe: (...given) => topic.subscribe(...given),
    lastSeq: () => topic.lastSeq(),
  };
  const holds = ({ id, revision }: Version) => (memory.get(id)?.revision ?? 0) >= revision;
  const replica = new TableReplica<Row, Version, Version>(
    {
      what: 'notes',
      mayMissNews: () => isBusAway,
      get size() {
        return memory.size;
      },
      readLastRevision: async () => last,
      readChanges: async (after) => {
        const changed = [...table.values()].filter(({ revision }) => revision > after);
        return { news: { large: changed }, count: table.size };
      },
      idOf: ({ id }) => id,
      versionOf: ({ id, revision }) => ({ id, revision }),
      held: () => memory.values(),
      holds,
      put: (row) => {
        if (!holds(row)) memory.set(row.id, row);
      },
      apply: ({ id, revision }) => {
        const row = memory.get(id);
        if (row) memory.set(id, { ...row, revision });
      },
      remove: ({ id, revision }) => {
        if ((memory.get(id)?.revision ?? 0) <= revision) memory.delete(id);
      },
      read: async (ids) => ids.flatMap((id) => table.get(id) ?? []),
      readPage: async (after) =>
        [...table.values()]
          .filter(({ id }) => id > after)
          .toSorted((a, b) => (a.id < b.id ? -1 : 1))
          .slice(0, 2),
    },
    own,
    silentLog,
  );
  replicas.push(replica);
  await replica.start();
  const shown = () => [...memory.values()].map(({ id, revision }) => `${id}${revision}`).toSorted();
  return { replica, memory, shown };
}

/** Writes a row as a replica would. */
function write(id: string, revision = 1, text = ''): Row {
  const row = { id, revision, text };
  table.set(id, row);
  last = Math.max(last, revision);
  return row;
}

test('news reach the others, and what the bus had not taken is told again from the table', async () => {
  const [one, two] = [await open(), await open()];
  one.replica.tell({ rows: [write('a'), write('b')] });
  await expect.poll(two.shown).toEqual(['a1', 'b1']);
  isBusAway = true;
  one.replica.tell({ rows: [write('c')] });
  one.replica.tell({ removals: [{ id: 'a', revision: 1 }] });
  one.replica.tell({ states: [{ id: 'b', revision: 2 }] });
  write('b', 2);
  table.delete('a');
  await new Promise(setImmediate);
  await one.replica.catchUp();
  expect(two.shown()).toEqual(['a1', 'b1']);
  isBusAway = false;
  await one.replica.catchUp();
  await expect.poll(two.shown).toEqual(['b2', 'c1']);
  published.length = 0;
  await one.replica.catchUp();
  expect(published).toEqual([]);
});

test('where no bus connects them replicas take over what changed and went, from the table', async () => {
  await using elsewhere = new LocalBus({ log: silentLog });
  for (const id of ['a', 'b', 'c']) write(id);
  const [one, two] = [await open(), await open(elsewhere)];
  await two.replica.reread();
  one.replica.tell({ rows: [write('a', 2), write('d', 3)] });
  table.delete('b');
  last = 4;
  one.replica.tell({ removals: [{ id: 'b', revision: 4 }] });
  expect(two.shown()).toEqual(['a1', 'b1', 'c1']);
  await two.replica.reread();
  expect(two.shown()).toEqual(['a2', 'c1', 'd3']);
  expect(two.shown()).toEqual(one.shown());
});

test('while the bus is away, and once after, replicas read from the table what nobody told', async () => {
  vi.useFakeTimers({ toFake: ['setInterval'] });
  try {
    const one = await open();
    isBusAway = true;
    write('a', 1);
    vi.advanceTimersByTime(rereadMs);
    await expect.poll(one.shown).toEqual(['a1']);
    write('b', 2);
    isBusAway = false;
    vi.advanceTimersByTime(rereadMs);
    await expect.poll(one.shown).toEqual(['a1', 'b2']);
    write('c', 3);
    vi.advanceTimersByTime(rereadMs);
    await one.replica.catchUp();
    expect(one.shown()).toEqual(['a1', 'b2']);
  } finally {
    vi.useRealTimers();
  }
});

test('a replica begins with what the table holds, page by page', async () => {
  for (const id of ['a', 'b', 'c', 'd', 'e']) write(id);
  expect((await open()).shown()).toEqual(['a1', 'b1', 'c1', 'd1', 'e1']);
});

test('a row that is too large for the bus is read from the table', async () => {
  const [one, two] = [await open(), await open()];
  const large = write('large', 1, 'x'.repeat(200_000));
  one.replica.tell({ rows: [large, write('small')] });
  await expect.poll(two.shown).toEqual(['large1', 'small1']);
  expect(two.memory.get('large')?.text).toHaveLength(200_000);
  expect(published).toContainEqual({ large: [{ id: 'large', revision: 1 }] });
});

test('many rows go out in few events, none of them large', async () => {
  const one = await open();
  one.replica.tell({
    rows: Array.from({ length: 100 }, (_, at) => write(`r${at}`, 1, 'x'.repeat(5_000))),
  });
  await new Promise(setImmediate);
  expect(published.flatMap(({ rows = [] }) => rows)).toHaveLength(100);
  expect(published.length).toBeLessThan(6);
  for (const news of published) expect(JSON.stringify(news).length).toBeLessThan(140_000);
});
