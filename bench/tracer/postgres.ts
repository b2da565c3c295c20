import { execFile } from 'node:child_process';
import { chown, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findFreePort } from '../../src/kit/testing.ts';

const run = promisify(execFile);
const packages = '/usr/lib/postgresql';
const ticksPerSecond = 100;

/** A PostgreSQL server of this benchmark alone, with the settings that it comes with. */
export class PostgresServer implements AsyncDisposable {
  readonly url: string;
  /** Its major version. */
  readonly version: string;
  readonly #folder: string;
  readonly #call: (program: string, words: readonly string[]) => Promise<unknown>;
  #pid = 0;

  private constructor(version: string, at: { folder: string; port: number; owner: object }) {
    const { folder, port, owner } = at;
    this.version = version;
    this.url = `postgres://ennead@127.0.0.1:${port}/postgres`;
    this.#folder = folder;
    this.#call = (program, words) =>
      run(join(packages, version, 'bin', program), [...words], { ...owner, cwd: folder });
  }

  /** Starts the oldest one that we support and that is installed; undefined where there is none. */
  static async start(): Promise<PostgresServer | undefined> {
    const versions = await readdir(packages).catch(() => []);
    const [version] = versions.filter((name) => Number(name) >= 15).toSorted();
    if (version === undefined) return undefined;
    const folder = await mkdtemp(join(tmpdir(), 'ennead-bench-postgres-'));
    const owner = await findOwner();
    if (owner) await chown(folder, owner.uid, owner.gid);
    const port = await findFreePort();
    const server = new PostgresServer(version, { folder, port, owner: owner ?? {} });
    await server.#open(port);
    return server;
  }

  async #open(port: number): Promise<void> {
    const data = join(this.#folder, 'data');
    await this.#call('initdb', ['-D', data, '-U', 'ennead', '-A', 'trust', '-E', 'UTF8', '-N']);
    const place = `-p ${port} -k ${this.#folder} -c listen_addresses=127.0.0.1`;
    const log = join(this.#folder, 'postgres.log');
    await this.#call('pg_ctl', ['-D', data, '-w', '-l', log, '-o', place, 'start']);
    const [pid = ''] = (await readFile(join(data, 'postmaster.pid'), 'utf8')).split('\n');
    this.#pid = Number(pid);
  }

  /** CPU time of all its processes, those that have ended included. */
  async cpuMicros(): Promise<number> {
    const stats = await Promise.all(
      (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(readStat),
    );
    const own = stats.filter((stat) => stat?.pid === this.#pid || stat?.parent === this.#pid);
    const ticks = own.map((stat) => {
      if (!stat) return 0;
      return stat.pid === this.#pid ? stat.ownTicks + stat.endedTicks : stat.ownTicks;
    });
    return (ticks.reduce((sum, each) => sum + each, 0) / ticksPerSecond) * 1e6;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const data = join(this.#folder, 'data');
    await this.#call('pg_ctl', ['-D', data, '-w', '-m', 'immediate', 'stop']).catch(() => {});
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/** As root the programs of PostgreSQL run as its own user, for they refuse to run as root. */
async function findOwner(): Promise<{ uid: number; gid: number } | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const idOf = async (flag: string) => Number((await run('id', [flag, 'postgres'])).stdout);
  return { uid: await idOf('-u'), gid: await idOf('-g') };
}

/** A line of /proc/<pid>/stat (proc_pid_stat(5)); undefined when the process has ended. */
async function readStat(pid: string) {
  const line = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  if (line === undefined) return undefined;
  // The name in parentheses may hold anything; the fields after it begin with the state, the third.
  const fields = line
    .slice(line.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const field = (number: number) => fields[number - 3] ?? 0;
  return {
    pid: Number(pid),
    parent: field(4),
    ownTicks: field(14) + field(15),
    endedTicks: field(16) + field(17),
  };
}
