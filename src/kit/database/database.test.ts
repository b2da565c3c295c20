import { sql, type Generated } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from './database.ts';
import { isUniqueViolation, sqlState } from './sql-errors.ts';
import { listTestDatabases } from './testing.ts';

interface Tables {
  account: { id: Generated<number>; name: string; balance: number };
  entry: { account_id: number; note: string };
}

const schema = `parity_${process.pid}`;

describe.each(listTestDatabases(process.env['ENNEAD_TEST_POSTGRES_URL']))(
  'on $title',
  ({ isAvailable, open }) => {
    let database: Database;

    beforeAll(async () => {
      if (!isAvailable) return;
      database = await open();
      await database.query(`create schema ${schema}`);
      await database.query(`create table ${schema}.account (
        id int8 primary key generated always as identity,
        name text not null constraint account_name_unique unique, balance int4 not null)`);
      await database.query(`create table ${schema}.entry (
        account_id int8 not null constraint entry_account references ${schema}.account (id),
        note text not null)`);
    });

    afterAll(async () => {
      if (!isAvailable) return;
      await database.query(`drop schema ${schema} cascade`);
      await database[Symbol.asyncDispose]();
      await expect(database.query('select 1')).rejects.toMatchObject({ code: 'unavailable' });
    });

    const test = it.skipIf(!isAvailable);

    test('says that its disk is full, for who asks to try again once there is room', async () => {
      const write = database.query(
        `do $$ begin raise exception 'no space left' using errcode = '53100'; end $$`,
      );
      await expect(write).rejects.toMatchObject({
        code: 'unavailable',
        reason: 'disk_full',
        message: "the database's disk is full",
        retryAfter: 60,
      });
    });

    const valueOf = async (expression: string, ...parameters: unknown[]): Promise<unknown> => {
      const [row] = await database.query<{ value: unknown }>(
        `select ${expression} as value`,
        parameters,
      );
      return row?.value;
    };

    test('a repeated name is told by its SQLSTATE, constraint and detail', async () => {
      const insert = `insert into ${schema}.account (name, balance) values ('twin', 0), ('twin', 0)`;
      const error: unknown = await database.query(insert).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({
        code: '23505',
        constraint: 'account_name_unique',
        detail: 'Key (name)=(twin) already exists.',
        table: 'account',
        schema,
      });
      expect(isUniqueViolation(error)).toBe(true);
      expect(isUniqueViolation(error, 'account_name_unique')).toBe(true);
      expect(isUniqueViolation(error, 'another')).toBe(false);
    });

    test('a missing parent is told by the name of the foreign key', async () => {
      const entry = { account_id: -1, note: 'lost' };
      const insert = database.kysely<Tables>(schema).insertInto('entry').values(entry).execute();
      const error: unknown = await insert.catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: '23503', constraint: 'entry_account' });
      expect(isUniqueViolation(error)).toBe(false);
    });

    test('a misspelt statement fails with 42601 and the next one works', async () => {
      const error: unknown = await database.query('selec 1').catch((thrown: unknown) => thrown);
      expect(sqlState(error)).toBe('42601');
      expect(await valueOf('1')).toBe(1);
    });

    test('two statements in one query are refused', async () => {
      await expect(database.query('select 1; select 2')).rejects.toMatchObject({ code: '42601' });
    });

    test('a transaction opened by a raw statement is refused', async () => {
      await expect(database.query(' BEGIN')).rejects.toMatchObject({ code: 'internal' });
      await expect(database.query('start  transaction')).rejects.toThrow(/Kysely/);
    });

    test('an int8 beyond 2^53 rejects the query and the connection lives on', async () => {
      await expect(valueOf('9007199254740993::int8')).rejects.toMatchObject({ code: 'internal' });
      expect(await valueOf('9007199254740991::int8')).toBe(9007199254740991);
    });

    test('a failure among pipelined statements hits no other', async () => {
      const outcomes = await Promise.allSettled([
        valueOf('1 + 1'),
        valueOf('1 / 0'),
        valueOf('2 + 1'),
      ]);
      expect(outcomes[0]).toEqual({ status: 'fulfilled', value: 2 });
      expect(outcomes[1]).toMatchObject({ status: 'rejected', reason: { code: '22012' } });
      expect(outcomes[2]).toEqual({ status: 'fulfilled', value: 3 });
    });

    test.each<[string, unknown]>([
      ['42::int8', 42],
      ['42::int4', 42],
      ['count(*)', 1],
      ["'12345678901234567890.50'::numeric", '12345678901234567890.50'],
      ["'2026-01-02T03:04:05.678Z'::timestamptz", new Date('2026-01-02T03:04:05.678Z')],
      ["'2026-01-02 03:04:05'::timestamp", '2026-01-02 03:04:05'],
      ["'2026-01-02'::date", '2026-01-02'],
      ['\'{"a": [1, null, "x"]}\'::jsonb', { a: [1, null, 'x'] }],
      ["'[1,2]'::json", [1, 2]],
      ["'\\x00ff'::bytea", Buffer.from([0, 255])],
      ['array[1,2,null]::int8[]', [1, 2, null]],
      ["array['a,b',null,'']", ['a,b', null, '']],
      ["array['0.10']::numeric[]", ['0.10']],
      ["array['2026-01-02']::date[]", ['2026-01-02']],
      ["array['2026-01-02T00:00Z']::timestamptz[]", [new Date('2026-01-02T00:00Z')]],
      [
        'array[array[1,2],array[3,4]]::int8[]',
        [
          [1, 2],
          [3, 4],
        ],
      ],
      ["interval '90 minutes'", '01:30:00'],
      ['true', true],
      ['1.5::float8', 1.5],
      ['null::int8', null],
      ["'6b1c2a44-3d07-4c86-9a53-2f3f8f6f3d11'::uuid", '6b1c2a44-3d07-4c86-9a53-2f3f8f6f3d11'],
    ])('%s is read as %o', async (expression, expected) => {
      expect(await valueOf(expression)).toStrictEqual(expected);
    });

    test.each<[string, unknown, unknown]>([
      [
        '$1::timestamptz',
        new Date('2026-01-02T03:04:05.678Z'),
        new Date('2026-01-02T03:04:05.678Z'),
      ],
      ['$1::jsonb', { a: { b: ["it's", null] } }, { a: { b: ["it's", null] } }],
      ['$1::bytea', Buffer.from('añ'), Buffer.from('añ')],
      ['$1::bytea', new Uint8Array([1, 0, 2]), Buffer.from([1, 0, 2])],
      ['array(select unnest($1::text[]))', ['a', 'b"', null], ['a', 'b"', null]],
      ['array(select unnest($1::int8[]))', [1, 2], [1, 2]],
      [
        '(select array_agg(x) from unnest($1::jsonb[]) x)',
        [{ a: 1 }, { b: '"' }],
        [{ a: 1 }, { b: '"' }],
      ],
      ['$1::bytea[]', [Buffer.from([7])], [Buffer.from([7])]],
      ['$1::int8', 9_007_199_254_740_991n, 9_007_199_254_740_991],
      ['$1::numeric', '0.30', '0.30'],
      ['$1::text', null, null],
      ['$1::text', undefined, null],
      ['$1::boolean', false, false],
      ['$1::text', '', ''],
      ['$1::date', '2026-02-28', '2026-02-28'],
    ])('%s accepts %o', async (expression, parameter, expected) => {
      expect(await valueOf(expression, parameter)).toStrictEqual(expected);
    });

    test('rows that change are counted', async () => {
      const accounts = database.kysely<Tables>(schema);
      const values = ['ann', 'bob', 'cid'].map((name) => ({ name, balance: 1 }));
      const inserted = await accounts.insertInto('account').values(values).execute();
      const names = ['ann', 'bob', 'nobody'];
      const update = accounts.updateTable('account').set({ balance: 2 }).where('name', 'in', names);
      const remove = accounts.deleteFrom('account').where('name', '=', 'cid');
      expect(inserted[0]?.numInsertedOrUpdatedRows).toBe(3n);
      expect((await update.executeTakeFirst()).numUpdatedRows).toBe(2n);
      expect((await remove.executeTakeFirst()).numDeletedRows).toBe(1n);
      expect((await remove.executeTakeFirst()).numDeletedRows).toBe(0n);
    });

    test('a transaction that throws leaves nothing behind', async () => {
      const accounts = database.kysely<Tables>(schema);
      const attempt = accounts.transaction().execute(async (transaction) => {
        await transaction.insertInto('account').values({ name: 'gone', balance: 0 }).execute();
        throw new Error('changed my mind');
      });
      await expect(attempt).rejects.toThrow('changed my mind');
      expect(await countNamed('gone')).toBe(0);
    });

    test('a transaction whose statement failed rolls back and frees its connection', async () => {
      const attempt = database
        .kysely<Tables>(schema)
        .transaction()
        .execute(async (transaction) => {
          await transaction.insertInto('account').values({ name: 'half', balance: 0 }).execute();
          await sql`select 1 / 0`.execute(transaction);
        });
      await expect(attempt).rejects.toMatchObject({ code: '22012' });
      expect(await countNamed('half')).toBe(0);
    });

    test('transactions that read and then write lose no update', async () => {
      const accounts = database.kysely<Tables>(schema);
      await accounts.insertInto('account').values({ name: 'sum', balance: 0 }).execute();
      const increment = (): Promise<unknown> =>
        accounts.transaction().execute(async (transaction) => {
          const named = transaction
            .selectFrom('account')
            .select('balance')
            .where('name', '=', 'sum');
          const { balance } = await named.forUpdate().executeTakeFirstOrThrow();
          const raised = { balance: balance + 1 };
          await transaction.updateTable('account').set(raised).where('name', '=', 'sum').execute();
        });
      await Promise.all(Array.from({ length: 25 }, increment));
      const [row] = await database.query<{ balance: number }>(
        `select balance from ${schema}.account where name = 'sum'`,
      );
      expect(row?.balance).toBe(25);
    });

    test('a result of many megabytes arrives whole and in order', async () => {
      const rows = await database.query<{ n: number; pad: string }>(
        "select n, repeat('x', 100) as pad from generate_series(1, 20000) n",
      );
      expect(rows).toHaveLength(20_000);
      expect(rows.every(({ n, pad }, index) => n === index + 1 && pad.length === 100)).toBe(true);
    });

    test('a ping answers in milliseconds', async () => {
      expect(await database.ping()).toBeGreaterThan(0);
    });

    async function countNamed(name: string): Promise<number> {
      const [row] = await database.query<{ count: number }>(
        `select count(*) from ${schema}.account where name = $1`,
        [name],
      );
      return row?.count ?? -1;
    }
  },
);
