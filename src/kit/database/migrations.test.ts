import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Database } from './database.ts';
import { listTestDatabases } from './testing.ts';

describe.each(listTestDatabases(process.env['ENNEAD_TEST_POSTGRES_URL']))(
  'migrations on $title',
  ({ isAvailable, open }) => {
    const test = it.skipIf(!isAvailable);
    let database: Database;
    let folder: string;
    let schema: string;
    let caseCount = 0;

    beforeAll(async () => {
      if (isAvailable) database = await open();
    });

    beforeEach(async () => {
      caseCount += 1;
      schema = `migrated_${process.pid}_${caseCount}`;
      folder = await mkdtemp(join(tmpdir(), 'ennead-migrations-'));
      return () => rm(folder, { recursive: true, force: true });
    });

    afterAll(async () => {
      if (!isAvailable) return;
      for (let number = 1; number <= caseCount; number += 1) {
        await database.query(`drop schema if exists migrated_${process.pid}_${number} cascade`);
      }
      await database[Symbol.asyncDispose]();
    });

    const write = (name: string, text: string): Promise<void> =>
      writeFile(join(folder, name), text.replaceAll('SCHEMA', schema));
    const migrate = (): Promise<string[]> => database.migrate(schema, pathToFileURL(folder));

    test('a failing file names its line, leaves nothing of itself and keeps those before', async () => {
      await write('001-first.sql', 'create table SCHEMA.first ();');
      await write('002-second.sql', 'create table SCHEMA.second ();\n\nselect 1 from nowhere;');
      const message = `migration ${schema}/002-second.sql failed in line 3: relation "nowhere"`;
      await expect(migrate()).rejects.toThrow(message);
      await write('002-second.sql', 'create table SCHEMA.second ();');
      expect(await migrate()).toEqual(['002-second.sql']);
    });

    test('a file that changed after it was applied is refused', async () => {
      await write('001-first.sql', 'create table SCHEMA.first ();');
      await migrate();
      await write('001-first.sql', 'create table SCHEMA.first (id int4);');
      const message = `migration ${schema}/001-first.sql changed after it was applied`;
      await expect(migrate()).rejects.toThrow(message);
    });

    test('a database that is newer than the folder is refused', async () => {
      await write('001-first.sql', 'select 1');
      await write('002-second.sql', 'select 1');
      await migrate();
      await rm(join(folder, '002-second.sql'));
      await expect(migrate()).rejects.toThrow('the database is newer than this program');
      await expect(migrate()).rejects.toMatchObject({ code: 'conflict' });
    });

    test('a gap, a repeated number and a bad name are refused before anything is changed', async () => {
      await write('001-first.sql', 'select 1');
      await write('003-third.sql', 'select 1');
      await expect(migrate()).rejects.toThrow('migration 002 is missing before 003-third.sql');
      await write('001-other.sql', 'select 1');
      await expect(migrate()).rejects.toThrow('migration 002 is missing before 001-other.sql');
      await write('0-Bad.sql', 'select 1');
      await expect(migrate()).rejects.toThrow('0-Bad.sql is not named like 001-name.sql');
      const schemas = 'select 1 from pg_namespace where nspname = $1';
      expect(await database.query(schemas, [schema])).toEqual([]);
    });

    test('a schema whose name would need quoting is refused', async () => {
      const attempt = database.migrate('a"; drop schema auth', pathToFileURL(folder));
      await expect(attempt).rejects.toMatchObject({ code: 'internal' });
    });

    test('files apply once, in order, with many statements each, however lines end', async () => {
      await write(
        '001-first.sql',
        'create table SCHEMA.first (id int4);\ncreate index on SCHEMA.first (id);',
      );
      await write(
        '002-second.sql',
        "insert into SCHEMA.first values (1);\ncomment on table SCHEMA.first is ';';",
      );
      await write('notes.txt', 'not a migration');
      expect(await migrate()).toEqual(['001-first.sql', '002-second.sql']);
      await write(
        '001-first.sql',
        'create table SCHEMA.first (id int4);\r\ncreate index on SCHEMA.first (id);',
      );
      expect(await migrate()).toEqual([]);
      const recorded = await database.query<{ name: string; checksum: string; applied_at: Date }>(
        `select * from ${schema}.migration order by name`,
      );
      expect(recorded.map(({ name }) => name)).toEqual(['001-first.sql', '002-second.sql']);
      expect(recorded[0]?.checksum).toMatch(/^[0-9a-f]{64}$/);
      expect(recorded[0]?.applied_at).toBeInstanceOf(Date);
    });

    test('replicas that start together apply each file once between them', async () => {
      await write('001-first.sql', 'create table SCHEMA.first (id int4);');
      await write('002-second.sql', 'insert into SCHEMA.first values (1);');
      await write('003-third.sql', 'insert into SCHEMA.first values (2);');
      const applied = await Promise.all(Array.from({ length: 6 }, migrate));
      expect(applied.flat().toSorted()).toEqual([
        '001-first.sql',
        '002-second.sql',
        '003-third.sql',
      ]);
      expect(await database.query(`select id from ${schema}.first order by id`)).toHaveLength(2);
    });
  },
);
