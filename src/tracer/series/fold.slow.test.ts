import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Database } from '../../kit/database/database.ts';
import { addBlock } from './cell-block.ts';
import { Cell } from './cells.ts';
import { foldLog } from './fold.ts';
import { binOf } from './histogram.ts';
import type { Level, Sample } from './series.ts';
import { seriesIdOf } from './series-id.ts';
import { addSamples, duration, openTracerDatabase, preparePartitions } from './testing.ts';

const nowMs = Date.parse('2026-11-21T10:30:20Z');
const dayMs = 86_400_000;
const levels: readonly Level[] = ['minute', 'hour', 'day'];

let database: Database;

beforeAll(async () => {
  database = await openTracerDatabase();
  await preparePartitions(database, nowMs);
});

beforeEach(async () => {
  const tables = ['series', 'cell_log', ...levels.map((level) => `block_${level}`)];
  await database.query(`truncate ${tables.map((table) => `tracer.${table}`).join(', ')}`);
});

afterAll(() => database[Symbol.asyncDispose]());

async function fold(samples: readonly Sample[], sign: 1 | -1 = 1): Promise<void> {
  await addSamples(database, samples, { nowMs, sign });
  while (await foldLog(database, nowMs));
}

/** The bodies of all parts of all blocks of a level. */
async function partsOf(level: Level): Promise<Buffer[]> {
  const rows = await database.query<{ body: Buffer }>(
    `select body from tracer.block_${level} order by part`,
  );
  return rows.map(({ body }) => body);
}

async function cellsOf(level: Level): Promise<ReadonlyMap<number, Cell>> {
  const cells = new Map<number, Cell>();
  for (const body of await partsOf(level)) addBlock(body, cells, { hasBins: true });
  return cells;
}

const named = (name: string, us: number, atMs = nowMs) =>
  duration('traceName', [name], { atMs, us });

test.each([
  ['8 days', 8, [0, 1, 1]],
  ['31 days', 31, [0, 0, 1]],
  ['half a day ahead', -0.5, [1, 1, 1]],
])('a trace that is %s old is counted where its cells are kept', async (_name, days, counts) => {
  await fold([named('a', 5, nowMs - days * dayMs)]);
  const parts = await Promise.all(levels.map(partsOf));
  expect(parts.map(({ length }) => length)).toEqual(counts);
});

test('self times have no histogram by the minute', async () => {
  await fold([duration('self', ['s', 'n', 'server'], { atMs: nowMs, us: 9 })]);
  const cells = await Promise.all(levels.map(cellsOf));
  const [minute, hour, day] = cells.map((found) => [...found.values()][0]);
  expect(minute).toMatchObject({ count: 1, sum: 9, bins: new Map() });
  expect(hour?.bins).toEqual(new Map([[binOf(9), 1]]));
  expect(day).toEqual(hour);
});

test('what is added and taken back leaves no block', async () => {
  await fold([named('a', 5)]);
  await fold([named('a', 5)], -1);
  expect((await Promise.all(levels.map(partsOf))).flat()).toEqual([]);
});

test('money and numbers beyond 2^52 stay what they are', async () => {
  const facts = { atUs: nowMs * 1_000, isError: false, isDuration: false };
  const cost = (name: string, amount: number): Sample => {
    return { kind: 'cost', labels: [name, 'openai', 'gpt'], amount, ...facts };
  };
  await fold([cost('a', 0.1), cost('b', 2 ** 60), cost('c', -7)]);
  await fold([cost('a', 0.2)]);
  const cells = await cellsOf('day');
  const sumOf = (name: string) => cells.get(seriesIdOf('cost', [name, 'openai', 'gpt']))?.sum;
  expect(['a', 'b', 'c'].map(sumOf)).toEqual([0.1 + 0.2, 2 ** 60, -7]);
});

test('a large block is not written anew for each small addition, and has few parts', async () => {
  const many = Array.from({ length: 3_000 }, (_, at) => named(`name ${at}`, at));
  await fold(many);
  const [large] = await partsOf('day');
  for (let at = 0; at < 20; at += 1) await fold([named('name 1', 1)]);
  const parts = await partsOf('day');
  expect(parts[0]?.equals(large!)).toBe(true);
  expect(parts).toHaveLength(2);
  const cells = await cellsOf('day');
  expect(cells.size).toBe(3_000);
  expect(cells.get(seriesIdOf('traceName', ['name 1']))?.count).toBe(21);
});
