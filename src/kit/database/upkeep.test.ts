import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Connections, StatementResult } from './connections.ts';
import { openDatabase, type Database } from './database.ts';
import { Upkeep } from './upkeep.ts';

let database: Database;

beforeAll(async () => {
  database = await openDatabase();
  await database.query('create schema kept');
});

afterAll(async () => {
  await database[Symbol.asyncDispose]();
});

/** Runs upkeep until a condition holds; answers what it did, or tried to do, to which table. */
async function keepUntil(isDone: () => Promise<boolean>, broken?: string): Promise<string[]> {
  const done: string[] = [];
  const run = async <Row>(text: string): Promise<StatementResult<Row>> => {
    if (/^(vacuum|analyze).* kept\./.test(text)) done.push(text);
    if (broken && text.endsWith(broken)) throw new Error('an index is broken');
    const rows = await database.query<Row>(text);
    return { rows } as StatementResult<Row>;
  };
  // Only `run` is needed for upkeep.
  const upkeep = new Upkeep({ run } as unknown as Connections, undefined, 20);
  await expect.poll(isDone).toBe(true);
  await upkeep.stop();
  return done;
}

/** Counts of changes reach the statistics a second later, unless somebody asks for it. */
async function makeTable(name: string, rows: number, options = ''): Promise<void> {
  await database.query(`create table kept.${name} (id integer primary key) ${options}`);
  await database.query(`insert into kept.${name} select generate_series(1, ${rows})`);
  await database.query('select pg_stat_force_next_flush()');
}

async function factsOf(name: string): Promise<{ estimate: number; dead: number }> {
  const [row] = await database.query<{ estimate: number; dead: number }>(
    `select reltuples as estimate, pg_stat_get_dead_tuples(oid) as dead
     from pg_class where oid = 'kept.${name}'::regclass`,
  );
  return row ?? { estimate: Number.NaN, dead: Number.NaN };
}

test('statistics of a table that was filled are made, once', async () => {
  await makeTable('filled', 1_100);
  expect((await factsOf('filled')).estimate).toBe(-1);
  const first = await keepUntil(async () => (await factsOf('filled')).estimate === 1_100);
  expect(first).toContain('vacuum (analyze) kept.filled');
  await makeTable('later', 100);
  const second = await keepUntil(async () => (await factsOf('later')).estimate === 100);
  expect(second).toEqual(['vacuum (analyze) kept.later']);
});

test('dead rows are cleared away when they have become many for the table', async () => {
  await makeTable('churned', 500);
  await keepUntil(async () => (await factsOf('churned')).estimate === 500);
  await database.query('update kept.churned set id = id + 1000 where id <= 100');
  await makeTable('other', 100);
  const early = await keepUntil(async () => (await factsOf('other')).estimate === 100);
  expect(early.join()).not.toContain('vacuum kept.churned');
  await database.query('delete from kept.churned where id > 1000');
  await database.query('select pg_stat_force_next_flush()');
  await keepUntil(async () => (await factsOf('churned')).dead === 0);
  expect((await factsOf('churned')).estimate).toBe(400);
});

test("a table's own thresholds are kept to", async () => {
  const options = `with (autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_scale_factor = 0,
    autovacuum_analyze_threshold = 5000)`;
  await makeTable('patient', 200, options);
  await keepUntil(async () => (await factsOf('patient')).estimate === 200);
  await database.query('delete from kept.patient');
  await makeTable('witness', 100);
  const done = await keepUntil(async () => (await factsOf('witness')).estimate === 100);
  expect(done.join()).not.toContain('patient');
  expect((await factsOf('patient')).dead).toBe(200);
});

test('a table that fails keeps none from the others', async () => {
  await makeTable('a_broken', 100);
  await makeTable('b_sound', 100);
  const isKept = async () => (await factsOf('b_sound')).estimate === 100;
  const done = await keepUntil(isKept, 'kept.a_broken');
  expect(done.slice(0, 2)).toEqual([
    'vacuum (analyze) kept.a_broken',
    'vacuum (analyze) kept.b_sound',
  ]);
  expect((await factsOf('a_broken')).estimate).toBe(-1);
});
