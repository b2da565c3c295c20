import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { createEgress, type EgressOptions } from '../../kit/egress/egress.ts';
import type {
  Connection,
  ConnectionChange,
  ConnectionNotes,
  Directory,
  Learned,
} from '../connections/connection.ts';
import type { RegistryEvent } from '../events.ts';
import type { SpawnServer } from '../processes/spawned.ts';
import { createDial } from './dialling.ts';
import { LinkPool, type LinkPoolOptions } from './pool.ts';
import type { Credentials } from './link-fetch.ts';

/** A server of a test on a free port of loopback. */
export interface TestServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
}

/** Listens with a listener that answers as badly as the test wants. */
export async function serve(listener: RequestListener): Promise<TestServer> {
  const server = createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A listening TCP server has an address object.
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}/mcp`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A web handler, such as those of the MCP SDK, as a listener of Node. */
export function fromWeb(handle: (request: Request) => Promise<Response>): RequestListener {
  return (request, response) => {
    const answer = async () => {
      const { status, headers, body } = await handle(await toWebRequest(request, response));
      response.writeHead(status, Object.fromEntries(headers));
      if (body) for await (const chunk of body) response.write(chunk);
      response.end();
    };
    answer().catch(() => response.destroy());
  };
}

async function toWebRequest(
  request: IncomingMessage,
  response: { once(event: 'close', listener: () => void): unknown },
): Promise<Request> {
  const { method = 'GET', url = '/', headers } = request;
  const body = method === 'POST' ? await text(request) : undefined;
  const stop = new AbortController();
  response.once('close', () => stop.abort());
  return new Request(new URL(url, `http://${headers.host}`), {
    method,
    headers: Object.entries(headers).map(([name, value]): [string, string] => [
      name,
      String(value),
    ]),
    signal: stop.signal,
    ...(body === undefined ? {} : { body }),
  });
}

const plain = {
  type: 'server',
  status: 'active',
  ownerId: 'somebody',
  declared: [],
  quarantined: [],
  metadata: {},
  healthCheck: { enabled: true, interval: 30, timeout: 5000 },
  health: { status: 'initializing', checksPerformed: 0, failedChecks: 0, failuresInRow: 0 },
  createdAtMs: 0,
  lastActiveAtMs: 0,
  revision: 1,
} as const;

/** A connection to a remote server as the directory would hold it. */
export function remote(
  id: string,
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Connection {
  const protocol = url.startsWith('ws') ? 'websocket' : 'http';
  return { ...plain, id, name: id, protocol, endpoint: { url, headers } };
}

/** A connection to a command that was approved. */
export function local(id: string, command: string, args: readonly string[]): Connection {
  const approval = { approvedBy: 'operator', approvedAtMs: 0 };
  return { ...plain, id, name: id, protocol: 'stdio', endpoint: { command, args }, approval };
}

/** Connections in memory, with what is noted of them; not stored anywhere. */
export class TestDirectory
  implements Pick<Directory, 'find' | 'onChange'>, Pick<ConnectionNotes, 'noteLearned'>
{
  readonly notes: Learned[] = [];
  readonly events: RegistryEvent[] = [];
  readonly #connections = new Map<string, Connection>();
  readonly #listeners = new Set<(change: ConnectionChange) => void>();

  find(id: string): Connection | undefined {
    return this.#connections.get(id);
  }

  onChange(listener: (change: ConnectionChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  put(after: Connection): void {
    const before = this.#connections.get(after.id);
    this.#connections.set(after.id, after);
    for (const listener of this.#listeners) listener({ before, after });
  }

  async noteLearned(id: string, learned: Learned): Promise<void> {
    this.notes.push(learned);
    const connection = this.find(id);
    if (connection) this.put({ ...connection, ...learned });
  }

  tell(event: RegistryEvent): void {
    this.events.push(event);
  }
}

export interface GroundOptions extends Partial<Pick<LinkPoolOptions, 'idleSeconds' | 'linksMax'>> {
  readonly spawn?: SpawnServer;
  readonly egress?: EgressOptions;
  readonly bytesMax?: number;
  readonly credentialsOf?: (connectionId: string, url: string) => Credentials;
}

/** A pool over the real guard and the real client; loopback may be called. */
export function openLinks(options: GroundOptions = {}) {
  const { spawn = noProcesses, egress: egressOptions, idleSeconds, linksMax } = options;
  const egress = createEgress({ allow: [], isLoopbackAllowed: true }, egressOptions);
  const directory = new TestDirectory();
  const { bytesMax, credentialsOf } = options;
  const dial = createDial({
    egress,
    spawn,
    credentialsOf,
    version: '0.2.0',
    ...(bytesMax === undefined ? {} : { bytesMax }),
  });
  const pool = new LinkPool({
    directory,
    dial,
    ...(idleSeconds === undefined ? {} : { idleSeconds }),
    ...(linksMax === undefined ? {} : { linksMax }),
  });
  return {
    egress,
    directory,
    pool,
    [Symbol.asyncDispose]: async () => {
      await pool[Symbol.asyncDispose]();
      await egress[Symbol.asyncDispose]();
    },
  };
}

const noProcesses: SpawnServer = () => Promise.reject(new Error('no processes here'));
