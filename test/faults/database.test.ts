import { execFile } from 'node:child_process';
import { chown, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePortBase } from '../../src/kit/testing.ts';
import { serviceUrl, startEnnead, temporaryFolder, type Ennead } from '../ennead.ts';

const run = promisify(execFile);
const packages = '/usr/lib/postgresql';
const versions = await readdir(packages).catch(() => []);
const bin = versions
  .filter((version) => Number(version) >= 15)
  .map((version) => join(packages, version, 'bin'))
  .at(-1);

/** A PostgreSQL server of this test alone, which it may stop. */
interface Server {
  readonly url: string;
  start(): Promise<void>;
  stop(mode: 'fast' | 'immediate'): Promise<void>;
  /** Stops all its processes where they are: connections stay open and nothing answers. */
  freeze(): Promise<void>;
  /** Lets all its processes go on. */
  thaw(): Promise<void>;
}

/** As root the programs of PostgreSQL run as its own user, for they refuse to run as root. */
async function findOwner(): Promise<{ uid: number; gid: number } | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const [uid, gid] = await Promise.all(
    ['-u', '-g'].map(async (flag) => Number((await run('id', [flag, 'postgres'])).stdout)),
  );
  return uid === undefined || gid === undefined ? undefined : { uid, gid };
}

async function createServer(folder: string, port: number): Promise<Server> {
  const owner = await findOwner();
  if (owner) await chown(folder, owner.uid, owner.gid);
  const data = join(folder, 'pgdata');
  const call = (program: string, words: readonly string[]) =>
    run(join(bin ?? '', program), [...words], { ...owner, cwd: folder });
  await call('initdb', ['-D', data, '-U', 'ennead', '-A', 'trust', '-E', 'UTF8', '-N']);
  const place = `-p ${port} -k ${folder} -c listen_addresses=127.0.0.1`;
  const log = join(folder, 'postgres.log');
  const signal = async (name: 'SIGSTOP' | 'SIGCONT') => {
    const [parent = ''] = (await readFile(join(data, 'postmaster.pid'), 'utf8')).split('\n');
    for (const pid of await familyOf(Number(parent))) process.kill(pid, name);
  };
  return {
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
    url: `postgres://ennead@127.0.0.1:${port}/postgres`,
    start: async () => {
      await call('pg_ctl', ['-D', data, '-w', '-l', log, '-o', place, 'start']);
    },
    stop: async (mode) => {
      await call('pg_ctl', ['-D', data, '-w', '-m', mode, 'stop']);
    },
  };
}

/** A process and its children, itself first: stopped, it starts no others. */
async function familyOf(parent: number): Promise<number[]> {
  const { stdout } = await run('ps', ['-e', '-o', 'pid=,ppid=']);
  const pairs = stdout.split('\n').map((line) => line.trim().split(/\s+/).map(Number));
  const children = pairs.filter(([, ppid]) => ppid === parent).map(([pid = 0]) => pid);
  return [parent, ...children];
}

const title =
  bin === undefined ? 'PostgreSQL 15 or newer is not installed' : 'PostgreSQL goes away';

describe.skipIf(bin === undefined)(title, () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let server: Server;
  let ennead: Ennead;
  let url: string;
  let credentials: string;

  beforeAll(async () => {
    folder = await temporaryFolder();
    const base = await freePortBase();
    url = serviceUrl(base, 'auth');
    server = await createServer(folder.path, base + 12);
    await server.start();
    const dataFolder = join(folder.path, 'data');
    ennead = startEnnead(['run', 'auth'], {
      ENNEAD_DATABASE_URL: server.url,
      ENNEAD_DATA_DIR: dataFolder,
      ENNEAD_PORT_BASE: String(base),
      ENNEAD_DATABASE_STATEMENT_SECONDS: '3',
      AUTH_LOGIN_ATTEMPTS: '1000000',
      AUTH_LOGIN_ATTEMPTS_PER_ACCOUNT: '1000000',
      AUTH_LOGIN_ATTEMPTS_PER_ADDRESS: '1000000',
    });
    await ennead.ready;
    credentials = await readFile(join(dataFolder, 'admin.json'), 'utf8');
  });

  afterAll(async () => {
    await ennead.stop();
    await server.stop('immediate').catch(() => {});
    await folder.remove();
  });

  const login = () =>
    fetch(`${url}/api/v1/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: credentials,
    });

  /** The answer of a route to anybody; rejects when there is none before a statement gives up. */
  const read = (path: string) => fetch(`${url}${path}`, { signal: AbortSignal.timeout(3_000) });

  /** Logs in again and again until told to end; the statuses that it saw. */
  async function keepLoggingIn(until: { isOver: boolean }): Promise<Set<number>> {
    const statuses = new Set<number>();
    while (!until.isOver) statuses.add((await login()).status);
    return statuses;
  }

  test.each(['immediate', 'fast'] as const)(
    'auth answers 503 and when to try again, and goes on after it (stopped %s)',
    async (mode) => {
      expect((await login()).status).toBe(200);
      const until = { isOver: false };
      const loops = Array.from({ length: 8 }, () => keepLoggingIn(until));
      await server.stop(mode);
      const refused = await login();
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
      expect(await refused.json()).toEqual({
        error: {
          type: 'api_error',
          code: 'unavailable',
          message: 'the database does not answer',
          details: {},
        },
      });
      await server.start();
      until.isOver = true;
      const statuses = await Promise.all(loops);
      const others = statuses.flatMap((seen) => [...seen]).filter((one) => one !== 200);
      expect(new Set(others)).toEqual(new Set([503]));
      expect((await login()).status).toBe(200);
      expect(ennead.process.exitCode).toBeNull();
    },
  );

  test('a server that hangs is told as one that is away, and what needs none answers', async () => {
    const keys = await (await read('/.well-known/jwks.json')).json();
    // Connections that are open when it begins to hang are what hangs.
    await Promise.all(Array.from({ length: 8 }, login));
    await server.freeze();
    try {
      const logins = Promise.all(Array.from({ length: 20 }, login));
      const [health, published] = await Promise.all([
        read('/health'),
        read('/.well-known/jwks.json'),
      ]);
      expect(await health.json()).toMatchObject({ status: 'unhealthy', database: 'unhealthy' });
      expect([published.status, await published.json()]).toEqual([200, keys]);
      const refused = (await logins).map((one) => [one.status, one.headers.get('retry-after')]);
      expect(new Set(refused.map(String))).toEqual(new Set(['503,5']));
    } finally {
      await server.thaw();
    }
    await expect.poll(async () => (await login()).status).toBe(200);
    expect(await (await read('/health')).json()).toMatchObject({ database: 'healthy' });
    expect(ennead.process.exitCode).toBeNull();
  });
});
