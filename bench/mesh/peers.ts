import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { Lifetime } from '../../src/kit/lifecycle.ts';
import { silentLog } from '../../src/kit/testing.ts';
import { readCpuMs } from '../models/proc.ts';
import { Etcd } from './etcd.ts';
import { Redis } from './redis.ts';
import type { PeerClient } from './peer-client.ts';

/** A server of others for the same job, in a process of its own. */
export class Peer implements AsyncDisposable {
  readonly name: string;
  readonly lookup: string;
  readonly put: string;
  readonly #client: PeerClient;
  readonly #server: ChildProcess;
  readonly #folder: string;

  private constructor(
    name: string,
    client: PeerClient,
    { server, folder }: { readonly server: ChildProcess; readonly folder: string },
  ) {
    this.name = name;
    this.lookup = client.lookup;
    this.put = client.put;
    this.#client = client;
    this.#server = server;
    this.#folder = folder;
  }

  /** Starts a peer; undefined where its program is not on the PATH. */
  static async start(name: PeerName): Promise<Peer | undefined> {
    const { program, open } = peerPrograms[name];
    const path = findProgram(program);
    if (!path) return undefined;
    const folder = await mkdtemp(join(tmpdir(), `ennead-bench-${name}-`));
    const { client, args } = await open(folder);
    const server = spawn(path, args, { stdio: 'ignore', cwd: folder });
    // However this process ends, none of others is left behind.
    process.once('exit', () => void server.kill('SIGKILL'));
    await once(server, 'spawn');
    const peer = new Peer(name, client, { server, folder });
    try {
      await client.start();
    } catch (error) {
      await peer[Symbol.asyncDispose]();
      throw error;
    }
    return peer;
  }

  fill(): Promise<void> {
    return this.#client.fill();
  }

  async cpuMicrosPerLookup(times: number): Promise<number> {
    return (await this.#cpuMicrosOf(() => this.#client.look(times))) / times;
  }

  async cpuMicrosPerPut(times: number): Promise<number> {
    return (await this.#cpuMicrosOf(() => this.#client.store(times))) / times;
  }

  /** Puts that are durable in a second of the clock. */
  async putsPerSecond(times: number): Promise<number> {
    const startedAt = performance.now();
    await this.#client.store(times);
    return (times * 1_000) / (performance.now() - startedAt);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client[Symbol.asyncDispose]();
    const exited = once(this.#server, 'exit');
    this.#server.kill('SIGKILL');
    await exited;
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #cpuMicrosOf(work: () => Promise<void>): Promise<number> {
    const { pid = 0 } = this.#server;
    const before = await readCpuMs(pid);
    await work();
    return ((await readCpuMs(pid)) - before) * 1_000;
  }
}

type PeerName = 'etcd' | 'redis';

const peerPrograms = {
  etcd: { program: 'etcd', open: (folder: string) => Etcd.open(folder) },
  redis: { program: 'redis-server', open: (folder: string) => Redis.open(folder) },
} as const;

/** Works with the peers that this machine has; the note says which it has not. */
export async function withPeers<T>(
  names: readonly PeerName[],
  work: (peers: readonly Peer[], note: string) => Promise<T>,
): Promise<T> {
  await using lifetime = new Lifetime(silentLog);
  const peers: Peer[] = [];
  const missing: string[] = [];
  for (const name of names) {
    const peer = await Peer.start(name);
    if (peer) peers.push(lifetime.own(name, peer));
    else missing.push(name);
  }
  const note = missing.length === 0 ? '' : `; skipped, not on the PATH: ${missing.join(', ')}`;
  return await work(peers, note);
}

function findProgram(name: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return folders.map((folder) => join(folder, name)).find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
