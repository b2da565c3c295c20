import { once } from 'node:events';
import { chown, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setImmediate, setInterval } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clusterMajor, ensureCluster } from './cluster.ts';
import type { Connections } from './connections.ts';
import { openDatabase } from './database.ts';
import { connectPglite, startPgliteThread } from './pglite.ts';
import { readOutput, spawnModule } from './testing.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ennead-pglite-test-'));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

it('has the memory for pages that it was opened with', async () => {
  const shown = async (options: { readonly cacheMegabytes?: number }) => {
    await using database = await openDatabase(options);
    return database.query('show shared_buffers');
  };
  expect(await shown({})).toEqual([{ shared_buffers: '32MB' }]);
  expect(await shown({ cacheMegabytes: 48 })).toEqual([{ shared_buffers: '48MB' }]);
});

describe('the one session of PGlite', () => {
  let worker: Worker;
  let connections: Connections;
  let closedCount = 0;

  beforeAll(async () => {
    worker = await startPgliteThread(await ensureCluster(join(folder, 'session')));
    connections = await connectPglite(worker, {
      log: undefined,
      close: async () => {
        closedCount += 1;
      },
    });
  });

  const textOf = async (sql: string): Promise<unknown> => {
    const { rows } = await connections.run<{ text: string }>(sql, []);
    return rows[0]?.text;
  };

  it('makes a statement wait behind a transaction that holds it', async () => {
    await connections.run('create table queue (step text)', []);
    const order: string[] = [];
    const transaction = await connections.reserve();
    await transaction.runScript('begin');
    const waiting = textOf('select count(*)::text as text from queue').then((text) => {
      order.push('statement');
      return text;
    });
    const second = connections.reserve().then((reserved) => {
      order.push('second transaction');
      return reserved.release();
    });
    await transaction.run("insert into queue values ('a'), ('b')", []);
    await transaction.runScript('commit');
    order.push('commit');
    transaction.release();
    expect(await waiting).toBe('2');
    await second;
    expect(order.toSorted()).toEqual(['commit', 'second transaction', 'statement']);
    expect(order[0]).toBe('commit');
  });

  it('rolls back a transaction that is given back unfinished, before anybody else runs', async () => {
    const transaction = await connections.reserve();
    await transaction.runScript('begin; create table unfinished ()');
    transaction.release();
    expect(await textOf("select to_regclass('unfinished')::text as text")).toBeNull();
  });

  it('sends statements outside transactions together, not one after the other', async () => {
    let postCount = 0;
    const post = worker.postMessage.bind(worker);
    worker.postMessage = (...message: Parameters<typeof post>) => {
      postCount += 1;
      post(...message);
    };
    const numbers = Array.from({ length: 100 }, (_, index) => String(index));
    const texts = await Promise.all(numbers.map((n) => textOf(`select '${n}' as text`)));
    worker.postMessage = post;
    expect(texts).toEqual(numbers);
    expect(postCount).toBe(1);
  });

  it('leaves the event loop free while a statement computes', async () => {
    const turns = setInterval(1, undefined, { ref: false });
    const heavy = textOf('select count(*)::text as text from generate_series(1, 1000000)');
    const turnCount = await countUntil(heavy, turns);
    expect(await heavy).toBe('1000000');
    expect(turnCount).toBeGreaterThan(10);
  });

  it('fails what runs and what waits when the thread dies, and refuses from then on', async () => {
    const running = textOf('select count(*)::text as text from generate_series(1, 100000000)');
    const transaction = await connections.reserve();
    const waiting = textOf('select 1');
    const refused = { name: 'Fault', code: 'unavailable' };
    const outcomes = Promise.all([
      expect(running).rejects.toMatchObject(refused),
      expect(transaction.run('select 1', [])).rejects.toMatchObject(refused),
      expect(waiting).rejects.toMatchObject(refused),
    ]);
    await worker.terminate();
    await setImmediate();
    transaction.release();
    await outcomes;
    await expect(textOf('select 1')).rejects.toThrow('the embedded database stopped');
    await expect(connections.reserve()).rejects.toMatchObject(refused);
    await connections[Symbol.asyncDispose]();
    expect(closedCount).toBe(1);
  });
});

describe('a database folder', () => {
  it('of another PostgreSQL version is refused', async () => {
    const old = join(folder, 'old');
    const cluster = await ensureCluster(old);
    await writeFile(join(cluster, 'PG_VERSION'), '17\n');
    const message = `is of PostgreSQL 17; version ${clusterMajor} is needed`;
    await expect(openDatabase({ folder: old })).rejects.toThrow(message);
    await expect(openDatabase({ folder: old })).rejects.toMatchObject({ code: 'conflict' });
  });

  it('that is damaged is refused with the reason as the cause, and its lock is freed', async () => {
    const damaged = join(folder, 'damaged');
    const cluster = await ensureCluster(damaged);
    await rm(join(cluster, 'global'), { recursive: true });
    await expect(openDatabase({ folder: damaged })).rejects.toThrow(/does not open/);
    expect(await readdir(damaged)).toEqual(['pgdata']);
  });

  it('is refused to a second process, and to a second opening in the same one', async () => {
    const shared = join(folder, 'shared');
    const database = await openDatabase({ folder: shared });
    await expect(openDatabase({ folder: shared })).rejects.toMatchObject({ code: 'conflict' });
    const child = spawnModule(
      `const { openDatabase } = await open('./database.ts');
       await openDatabase({ folder: parameters[0] }).catch((error) => print(error.message));`,
      [shared],
    );
    const expected = `the data folder ${shared} is in use by process ${process.pid}`;
    expect(await readOutput(child)).toContain(expected);
    await database[Symbol.asyncDispose]();
    expect(await readdir(shared)).toEqual(['pgdata']);
  });

  it.skipIf(process.getuid?.() !== 0)(
    'is made also by who may not read what another user has prepared (skipped unless root)',
    async () => {
      const nobody = 65_534;
      // The tests' own temporary folder is closed to everybody else.
      const other = await mkdtemp('/tmp/ennead-other-user-');
      await chown(other, nobody, nobody);
      const child = spawnModule(
        `const { openDatabase } = await open('./database.ts');
         const database = await openDatabase({ folder: parameters[0] });
         print((await database.query("select 'made' as state"))[0].state);
         await database[Symbol.asyncDispose]();`,
        [join(other, 'data')],
        { uid: nobody, gid: nobody, env: { ...process.env, TMPDIR: other } },
      );
      expect(await readOutput(child)).toBe('made\n');
      await rm(other, { recursive: true });
    },
  );

  it('loses no acknowledged row when its process is killed', async () => {
    const killed = join(folder, 'killed');
    let acknowledgedCount = 0;
    for (const killAfter of [20, 45, 70]) {
      const lines = await insertUntilKilled(killed, killAfter);
      expect(Number(lines[0])).toBeGreaterThanOrEqual(acknowledgedCount);
      acknowledgedCount = Number(lines.at(-1));
    }
    const database = await openDatabase({ folder: killed });
    const [row] = await database.query<{ last: number; missing: number }>(
      'select max(n) as last, max(n) - count(*) as missing from row',
    );
    await database[Symbol.asyncDispose]();
    expect(row?.last).toBeGreaterThanOrEqual(acknowledgedCount);
    expect(row?.missing).toBe(0);
  });
});

/** How many values came before the promise settled. */
async function countUntil(end: Promise<unknown>, values: AsyncIterable<unknown>): Promise<number> {
  const state = { isDone: false };
  const watch = end.finally(() => (state.isDone = true));
  let count = 0;
  for await (const _ of values) {
    if (state.isDone) break;
    count += 1;
  }
  await watch;
  return count;
}

/** The child prints the highest row it found, then each row once it was acknowledged. */
async function insertUntilKilled(path: string, killAfter: number): Promise<string[]> {
  const child = spawnModule(
    `const { openDatabase } = await open('./database.ts');
     const database = await openDatabase({ folder: parameters[0] });
     await database.query('create table if not exists row (n int4 primary key, pad text)');
     const [{ found }] = await database.query('select coalesce(max(n), 0) as found from row');
     print(found);
     for (let n = found + 1; ; n += 1) {
       await database.query('insert into row values ($1, $2)', [n, 'x'.repeat(500)]);
       print(n);
     }`,
    [path],
  );
  const lines: string[] = [];
  for await (const line of createInterface(child.stdout)) {
    lines.push(line);
    if (lines.length === killAfter) child.kill('SIGKILL');
  }
  if (child.signalCode === null) await once(child, 'exit');
  expect(child.signalCode).toBe('SIGKILL');
  return lines;
}
