import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A real nats-server for tests, with its own storage, that can die and come back. */
export interface NatsServer extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
  /** Ends the process as a crash would; its storage stays. */
  kill(): Promise<void>;
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

/** A way to a server on which answers can be made late. */
export interface SlowPath extends AsyncDisposable {
  readonly url: string;
  /** Keeps answers back until one request that contains this text has passed. */
  holdUntil(request: string): void;
}

/** Resolves when the path to the server on this port takes connections. */
export async function openSlowPath(port: number): Promise<SlowPath> {
  let awaited = '';
  const listener = createServer((client) => {
    const server = connect(port, '127.0.0.1');
    const held: Buffer[] = [];
    server.on('data', (chunk) => (awaited ? held.push(chunk) : client.write(chunk)));
    client.on('data', (chunk) => {
      server.write(chunk);
      if (!awaited || !chunk.includes(awaited)) return;
      awaited = '';
      for (const answer of held.splice(0)) client.write(answer);
    });
    for (const [one, peer] of [[client, server] as const, [server, client] as const]) {
      one.on('error', () => {}).on('close', () => peer.destroy());
    }
  }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  return {
    url: `nats://127.0.0.1:${portOf(listener)}`,
    holdUntil: (request) => {
      awaited = request;
    },
    [Symbol.asyncDispose]: async () => void listener.close(),
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
  const port = portOf(server);
  server.close();
  await once(server, 'close');
  return port;
}

function portOf(server: Server): number {
  // A listening TCP server has an address object.
  return (server.address() as AddressInfo).port;
}
