import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A real nats-server for tests, with its own storage, that can die and come back. */
export interface NatsServer extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
  /** Ends the process as a crash would; its storage stays. */
  kill(): Promise<void>;
  /** Stops the process from answering, or lets it go on. */
  freeze(isFrozen: boolean): void;
  /** Starts it again on the same port and storage, or on empty storage. */
  restart(options?: { isStorageLost?: boolean }): Promise<void>;
}

/** The program to start: the given path if there is one, else where packages put it. */
export function findNatsServer(preferred: string | undefined): string | undefined {
  const places = [preferred, '/usr/sbin/nats-server', '/usr/bin/nats-server'];
  return places.find((place) => place !== undefined && existsSync(place));
}

/** Resolves when the server is ready; `flags` are added to its command line. */
export async function startNatsServer(program: string, flags = ['-js']): Promise<NatsServer> {
  const port = await findFreePort();
  const storage = await mkdtemp(join(tmpdir(), 'ennead-nats-'));
  const command = ['-a', '127.0.0.1', '-p', String(port), '-sd', storage, ...flags];
  let child = await launch(program, command);
  const kill = (): Promise<void> => end(child);
  return {
    port,
    url: `nats://127.0.0.1:${port}`,
    kill,
    freeze: (isFrozen) => void child.kill(isFrozen ? 'SIGSTOP' : 'SIGCONT'),
    restart: async ({ isStorageLost = false } = {}) => {
      await kill();
      if (isStorageLost) await rm(storage, { recursive: true, force: true });
      child = await launch(program, command);
    },
    [Symbol.asyncDispose]: async () => {
      await kill();
      await rm(storage, { recursive: true, force: true });
    },
  };
}

async function launch(program: string, flags: readonly string[]): Promise<ChildProcess> {
  const child = spawn(program, flags, { stdio: ['ignore', 'ignore', 'pipe'] });
  let output = '';
  for await (const chunk of child.stderr.iterator({ destroyOnReturn: false })) {
    output += String(chunk);
    if (output.includes('Server is ready')) {
      child.stderr.resume();
      return child;
    }
  }
  throw new Error(`nats-server did not start: ${output}`);
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A listening TCP server has an address object.
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
