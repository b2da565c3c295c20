import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDatabase, type Database } from './database.ts';
import { StatementNames } from './statement-names.ts';

test('a statement has a name from its fifth time on, and always the same', () => {
  const names = new StatementNames();
  const given = Array.from({ length: 6 }, () => names.nameOf('select 1'));
  expect(given).toEqual([undefined, undefined, undefined, undefined, 's0', 's0']);
  for (let use = 0; use < 5; use += 1) names.nameOf('select 2');
  expect(names.nameOf('select 2')).toBe('s1');
  expect(names.nameOf('select 1')).toBe('s0');
});

test('no more than six hundred statements have a name, and very long ones have none', () => {
  const names = new StatementNames();
  const nameOf = (text: string) => Array.from({ length: 5 }, () => names.nameOf(text)).at(-1);
  expect(nameOf(`select '${'x'.repeat(20_000)}'`)).toBeUndefined();
  const given = Array.from({ length: 610 }, (_, index) => nameOf(`select ${index}`));
  expect(given.filter((name) => name !== undefined)).toHaveLength(600);
});

let database: Database;
beforeAll(async () => {
  database = await openDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

test('what is run over and over takes values of other types, goes on after errors and after changes of a table', async () => {
  await database.query('create table notes (id integer primary key, text text)');
  const insert = 'insert into notes (id, text) values ($1, $2) returning id, text';
  for (let id = 0; id < 8; id += 1) {
    const text = id % 2 === 0 ? null : `note ${id}`;
    expect(await database.query(insert, [id, text])).toEqual([{ id, text }]);
  }
  await expect(database.query(insert, [0, 'again'])).rejects.toThrow();
  expect(await database.query(insert, [100, 'after'])).toEqual([{ id: 100, text: 'after' }]);
  const count = 'select count(*)::integer as count from notes where id >= $1';
  for (let time = 0; time < 8; time += 1) await database.query(count, [0]);
  await database.query('create index notes_by_text on notes (text)');
  await database.query('alter table notes add column more text');
  expect(await database.query(count, [0])).toEqual([{ count: 9 }]);
  const missing = 'select * from nowhere where id = $1';
  for (let time = 0; time < 8; time += 1) {
    await expect(database.query(missing, [1])).rejects.toThrow();
  }
  await database.query('create table nowhere (id integer)');
  expect(await database.query(missing, [1])).toEqual([]);
  const many = await Promise.all(
    Array.from({ length: 20 }, (_, id) => database.query('select $1::integer as id', [id])),
  );
  expect(many.flat()).toEqual(Array.from({ length: 20 }, (_, id) => ({ id })));
});

test('what is to be planned anew is never kept, however often it is run', async () => {
  const kept = `select statement from pg_prepared_statements where statement like '%as often%'`;
  for (let time = 0; time < 8; time += 1) {
    await database.query('select $1::integer as often', [time], { isPlannedAnew: true });
  }
  expect(await database.query(kept)).toEqual([]);
  for (let time = 0; time < 8; time += 1)
    await database.query('select $1::integer as often', [time]);
  expect(await database.query(kept)).toHaveLength(1);
});
