import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from './database.ts';
import { columnsOf, selectColumns, type ColumnTypes } from './row-columns.ts';
import { listTestDatabases } from './testing.ts';

interface Row {
  readonly id: number;
  readonly text: string | null;
  readonly bytes: string | null;
  readonly share: number | null;
  readonly is_set: boolean;
  readonly names: readonly string[];
  readonly numbers: readonly number[];
}

const types: ColumnTypes<Row> = {
  id: 'bigint',
  text: 'text',
  bytes: 'bytea',
  share: 'double precision',
  is_set: 'boolean',
  names: 'text[]',
  numbers: 'integer[]',
};

describe.each(listTestDatabases(process.env['ENNEAD_TEST_POSTGRES_URL']))(
  'on $title',
  ({ isAvailable, open }) => {
    let database: Database;

    beforeAll(async () => {
      if (isAvailable) database = await open();
    });

    afterAll(() => database?.[Symbol.asyncDispose]());

    it.skipIf(!isAvailable)('rows are read as they were given', async () => {
      const texts = ['', 'NULL', 'a "quote" and a \\', '{a,b}', ' ä\n', null];
      const rows = texts.map((text, at): Row => {
        const bytes = text === null ? null : String.raw`\x00ff`;
        const names = text === null ? [] : [text, 'plain', `${text}"\\`];
        const share = at === 0 ? null : at / 3;
        return {
          id: at * 2 ** 40,
          text,
          bytes,
          share,
          is_set: at > 2,
          names,
          numbers: [at, at - 9],
        };
      });
      const parameters = [7, ...columnsOf(types, rows)];
      const found = await database.query<Row>(
        `select * from (${selectColumns(types, 2)}) as given where $1 = 7 order by id`,
        parameters,
      );
      const binary = ({ bytes }: Row) => bytes && Buffer.from([0, 255]);
      expect(found).toEqual(rows.map((row) => ({ ...row, bytes: binary(row) })));
    });

    it.skipIf(!isAvailable)('no rows are none', async () => {
      expect(await database.query(selectColumns(types, 1), columnsOf(types, []))).toEqual([]);
    });
  },
);
