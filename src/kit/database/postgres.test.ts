import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { openDatabase } from './database.ts';
import { Fault } from '../errors.ts';

const serverUrl = process.env['ENNEAD_TEST_POSTGRES_URL'];

async function failureOf(url: string): Promise<Fault> {
  const error: unknown = await openDatabase({ url }).catch((thrown: unknown) => thrown);
  if (error instanceof Fault) return error;
  throw new Error('no Fault', { cause: error });
}

describe('a PostgreSQL that cannot be used', () => {
  it('is named without the password when nothing listens there', async () => {
    const failure = await failureOf('postgres://ann:hunter2@127.0.0.1:1/shop');
    expect(failure.code).toBe('unavailable');
    expect(failure.message).toContain('cannot use the PostgreSQL at 127.0.0.1:1/shop');
    expect(failure.message).toContain('ECONNREFUSED');
    expect(failure.message).not.toContain('hunter2');
  });

  it('is refused when its URL is none, which is not repeated', async () => {
    for (const url of ['mysql://ann:hunter2@host/shop', 'hunter2', '']) {
      const failure = await failureOf(url);
      expect(failure.code).toBe('invalid');
      expect(failure.message).not.toContain('hunter2');
    }
  });
});

describe.skipIf(serverUrl === undefined)(
  serverUrl === undefined ? 'PostgreSQL: ENNEAD_TEST_POSTGRES_URL is not set' : 'PostgreSQL',
  () => {
    it('that refuses the password is reported with its SQLSTATE', async () => {
      const url = new URL(serverUrl ?? '');
      url.password = 'hunter2';
      const failure = await failureOf(url.href);
      expect(failure.message).toContain('(28P01)');
      expect(failure.message).not.toContain('hunter2');
    });

    it('stops a statement that runs too long, with a Fault deadline', async () => {
      const database = await openDatabase({ url: serverUrl, statementTimeoutMs: 20 });
      const sleep = database.query('select pg_sleep(60)');
      await expect(sleep).rejects.toMatchObject({ name: 'Fault', code: 'deadline' });
      await database[Symbol.asyncDispose]();
    });

    it('that ends a connection between two statements of a transaction fails that alone', async () => {
      const database = await openDatabase({ url: serverUrl });
      const pids: number[] = [];
      const transaction = database
        .kysely<object>('public')
        .transaction()
        .execute(async (trx) => {
          const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(trx);
          const [{ pid } = { pid: 0 }] = rows;
          pids.push(pid);
          await database.query('select pg_terminate_backend($1, 5000)', [pid]);
          await database.ping();
          await sql`select 1`.execute(trx);
        });
      await expect(transaction).rejects.toMatchObject({ code: 'unavailable', retryAfter: 5 });
      const left = await database.query('select 1 from pg_stat_activity where pid = $1', pids);
      expect([pids.length, left]).toEqual([1, []]);
      await database[Symbol.asyncDispose]();
    });

    it('that ends a connection fails what ran on it and serves the next statement', async () => {
      const database = await openDatabase({ url: serverUrl, connectionsMax: 1 });
      const suicide = database.query('select pg_terminate_backend(pg_backend_pid())');
      await expect(suicide).rejects.toMatchObject({ name: 'Fault', code: 'unavailable' });
      expect(await database.ping()).toBeGreaterThan(0);
      await database[Symbol.asyncDispose]();
    });
  },
);
