import { sql } from 'kysely';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { openDatabase } from './database.ts';
import { Fault } from '../errors.ts';

const serverUrl = process.env['ENNEAD_TEST_POSTGRES_URL'];

/** A way to the server that can be cut without closing anything: what is sent stays on the way. */
async function openWay(url: string) {
  const target = new URL(url);
  const place = { host: target.hostname, port: Number(target.port || 5432) };
  const sockets: Socket[] = [];
  let isOpen = true;
  const follow = (socket: Socket, other: Socket) => {
    sockets.push(socket);
    socket.on('error', () => other.destroy());
    socket.on('close', () => other.destroy());
    socket.on('data', (bytes) => {
      if (isOpen) other.write(bytes);
    });
  };
  const server = createServer((near) => {
    const far = connect(place);
    follow(near, far);
    follow(far, near);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // of a TCP server it is never a path
  target.hostname = '127.0.0.1';
  target.port = String(port);
  return {
    url: target.href,
    cut: () => (isOpen = false),
    mend: () => (isOpen = true),
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

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
    const cut = 'postgres://ann:h@hunter2/hunter2#x@host/shop';
    for (const url of ['mysql://ann:hunter2@host/shop', cut, 'hunter2', '']) {
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

    it('that says nothing is given up on, in a transaction too, and used again when it speaks', async () => {
      const way = await openWay(serverUrl ?? '');
      const database = await openDatabase({
        url: way.url,
        statementTimeoutMs: 100,
        connectionsMax: 2,
      });
      const pid = async () => {
        const [row] = await database.query<{ pid: number }>('select pg_backend_pid() as pid');
        return row?.pid;
      };
      const before = await pid();
      const work: unknown[] = [];
      const transaction = database
        .kysely<object>('public')
        .transaction()
        .execute(async (trx) => {
          way.cut();
          work.push(await sql`select 1`.execute(trx).catch((error: unknown) => error));
          way.mend();
          // The way is good again, and yet nobody can tell what this connection would answer.
          await sql`select 2`.execute(trx);
        });
      const away = { name: 'Fault', code: 'unavailable', retryAfter: 5 };
      const failure: unknown = await transaction.catch((error: unknown) => error);
      expect(failure).toMatchObject(away);
      // The same refusal, at once: nothing was asked on that connection any more.
      expect(failure).toBe(work[0]);
      way.cut();
      await expect(Promise.all([pid(), pid()])).rejects.toMatchObject(away);
      way.mend();
      await expect.poll(pid).toEqual(expect.any(Number));
      expect(await pid()).not.toBe(before);
      await database[Symbol.asyncDispose]();
      way.close();
    });

    it('that says nothing fails a ping long before the limit of a statement', async () => {
      const way = await openWay(serverUrl ?? '');
      const database = await openDatabase({ url: way.url, statementTimeoutMs: 3_600_000 });
      way.cut();
      const pings = Array.from({ length: 20 }, () => database.ping());
      const answers = await Promise.allSettled(pings);
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set(['rejected']));
      way.close();
      await database[Symbol.asyncDispose]();
    });

    it('lets a migration take longer than any statement may', async () => {
      const database = await openDatabase({ url: serverUrl, statementTimeoutMs: 100 });
      const schema = `patient_${Date.now()}`;
      const folder = await mkdtemp(join(tmpdir(), 'ennead-test-'));
      await writeFile(join(folder, '001-slow.sql'), 'select pg_sleep(1.5)');
      try {
        const applied = await database.migrate(schema, pathToFileURL(`${folder}/`));
        expect(applied).toEqual(['001-slow.sql']);
      } finally {
        await database.query(`drop schema ${schema} cascade`);
        await database[Symbol.asyncDispose]();
        await rm(folder, { recursive: true });
      }
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
