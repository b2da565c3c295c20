import { expect, test } from 'vitest';
import type { Connections, StatementResult } from './connections.ts';
import { openDatabase } from './database.ts';
import { Upkeep } from './upkeep.ts';

test('dead rows and stale statistics are cleared away on the embedded database', async () => {
  const database = await openDatabase();
  const run = async <Row>(text: string): Promise<StatementResult<Row>> => {
    const rows = await database.query<Row>(text);
    return { rows } as StatementResult<Row>;
  };
  await database.query('create schema kept');
  await database.query('create table kept.rows (id integer primary key)');
  await database.query('insert into kept.rows select generate_series(1, 1000)');
  // Only `run` is needed for upkeep.
  const upkeep = new Upkeep({ run } as unknown as Connections, undefined, 20);
  const estimate = async () => {
    const [row] = await database.query<{ reltuples: number }>(
      "select reltuples from pg_class where oid = 'kept.rows'::regclass",
    );
    return row?.reltuples;
  };
  expect(await estimate()).toBe(-1);
  await expect.poll(estimate).toBe(1000);
  await upkeep.stop();
  await database[Symbol.asyncDispose]();
});
