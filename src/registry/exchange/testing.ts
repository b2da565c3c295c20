import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Fault } from '../../kit/errors.ts';
import type { Identity } from '../../kit/identity/identity.ts';
import { newId } from '../../kit/ids.ts';
import type { Connection, Directory } from '../connections/connection.ts';
import type { ConnectionUpdate, NewConnection, Registrar } from './registrar.ts';

/** Connections in memory, made and changed as the registry does it. */
export class MemoryConnections
  implements Registrar, Pick<Directory, 'all' | 'find' | 'findByName'>
{
  readonly #all = new Map<string, Connection>();
  /** In whose name each was made, by the connection's id. */
  readonly authors = new Map<string, Identity>();

  all(): Iterable<Connection> {
    return this.#all.values();
  }

  find(id: string): Connection | undefined {
    return this.#all.get(id);
  }

  findByName(name: string): Connection | undefined {
    return [...this.#all.values()].find((one) => one.name === name && isLive(one));
  }

  /** One that the test knows to be there. */
  get(name: string): Connection {
    const found = this.findByName(name);
    if (!found) throw new Error(`there is no connection "${name}"`);
    return found;
  }

  add(input: Partial<NewConnection> & { readonly name: string }): Promise<Connection> {
    const server = { type: 'server', protocol: 'http', capabilities: [], metadata: {} } as const;
    return this.register({ ...server, endpoint: { url: 'http://127.0.0.1:9/mcp' }, ...input });
  }

  async check(input: NewConnection): Promise<void> {
    this.#requireFit(input);
  }

  #requireFit(input: NewConnection): void {
    if (this.findByName(input.name)) {
      throw new Fault('conflict', 'the name is taken', { reason: 'name_taken' });
    }
    if (JSON.stringify(input.metadata).length > 16_384) {
      throw new Fault('invalid', 'the metadata is too large');
    }
  }

  async register(input: NewConnection, author?: Identity): Promise<Connection> {
    this.#requireFit(input);
    const connection = toConnection(input);
    this.#all.set(connection.id, connection);
    if (author) this.authors.set(connection.id, author);
    return connection;
  }

  async update(id: string, { metadata }: ConnectionUpdate): Promise<Connection> {
    const before = this.#require(id);
    const merged = Object.entries({ ...before.metadata, ...metadata });
    const kept = Object.fromEntries(merged.filter(([, value]) => value !== null));
    const after = { ...before, metadata: kept, revision: before.revision + 1 };
    this.#all.set(id, after);
    return after;
  }

  async disconnect(id: string): Promise<Connection> {
    const after: Connection = { ...this.#require(id), status: 'disconnected' };
    this.#all.set(id, after);
    return after;
  }

  #require(id: string): Connection {
    const found = this.#all.get(id);
    if (found) return found;
    throw new Fault('not_found', 'there is no such connection', { reason: 'connection_not_found' });
  }
}

function isLive({ status }: Connection): boolean {
  return status !== 'disconnected';
}

function toConnection(input: NewConnection): Connection {
  const { capabilities: declared, endpoint, healthCheck, ...rest } = input;
  const now = Date.now();
  const { protocol } = rest;
  const base = {
    ...rest,
    id: newId('con'),
    status: 'active',
    ownerId: 'usr_test',
    declared,
    quarantined: [],
    healthCheck: { enabled: true, interval: 30, timeout: 5_000, ...healthCheck },
    health: { status: 'healthy', checksPerformed: 1, failedChecks: 0, failuresInRow: 0 },
    createdAtMs: now,
    lastActiveAtMs: now,
    revision: 1,
  } as const;
  if (protocol === 'stdio') {
    const command = endpoint && 'command' in endpoint ? endpoint : { command: '', args: [] };
    return { ...base, protocol, endpoint: command };
  }
  return { ...base, protocol, endpoint: endpoint && 'url' in endpoint ? endpoint : { url: '' } };
}

export interface CmsRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: unknown;
}

type Answering = (response: ServerResponse, request: CmsRequest) => void;

/** A small content-management system over HTTP, whose answers a test can spoil. */
export interface TestCms extends AsyncDisposable {
  readonly url: string;
  readonly records: Map<string, Record<string, unknown>>;
  readonly requests: CmsRequest[];
  readonly healths: unknown[];
  bundles: unknown[] | undefined;
  /** How a page of the listing is told. */
  wrap: (records: readonly Record<string, unknown>[]) => unknown;
  pageSize: number;
  hasTags: boolean;
  /** Answers in place of the system, by method and path; undefined lets the request through. */
  spoil: (request: CmsRequest) => Answering | undefined;
  /** Requests that changed something. */
  writes(): CmsRequest[];
}

export const cmsKey = 'cms-key-7f3a';

export async function startCms(): Promise<TestCms> {
  const server = createServer((request, response) => void receive(cms, request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A listening TCP server has an address object.
  const { port } = server.address() as AddressInfo;
  const cms: TestCms = {
    url: `http://127.0.0.1:${port}/site`,
    records: new Map(),
    requests: [],
    healths: [],
    bundles: undefined,
    wrap: (data) => ({ data }),
    pageSize: 1_000,
    hasTags: false,
    spoil: () => undefined,
    writes: () => cms.requests.filter(isWrite),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return cms;
}

function isWrite({ method, path }: CmsRequest): boolean {
  return method !== 'GET' && !path.endsWith('/health');
}

async function receive(cms: TestCms, incoming: IncomingMessage, response: ServerResponse) {
  const { method = '', url: path = '', headers } = incoming;
  const content = await text(incoming);
  const body: unknown = content === '' ? undefined : JSON.parse(content);
  const request = { method, path, headers, body };
  cms.requests.push(request);
  const spoilt = cms.spoil(request);
  if (spoilt) spoilt(response, request);
  else if (headers.authorization !== `Bearer ${cmsKey}`) send(response, 401, {});
  else answer(cms, request, response);
}

function answer(cms: TestCms, request: CmsRequest, response: ServerResponse): void {
  const { method, path, body } = request;
  const [, kind, id] = /^\/site\/api\/mcp\/(\w+)(?:\/([\w-]+))?/.exec(path) ?? [];
  if (kind === 'health') {
    cms.healths.push(body);
    return send(response, 202, {});
  }
  if (kind === 'bundles') return send(response, cms.bundles ? 200 : 404, cms.bundles ?? {});
  if (kind !== 'servers') return send(response, 404, {});
  if (method === 'GET') return list(cms, request, response);
  return change(cms, { method, id, body, response });
}

function list(cms: TestCms, { path, headers }: CmsRequest, response: ServerResponse): void {
  const from = Number(new URL(path, 'http://cms.test').searchParams.get('cursor') ?? 0);
  const all = [...cms.records.values()];
  const tag = `"${Buffer.from(JSON.stringify(all)).toString('base64').slice(-60)}-${all.length}"`;
  if (cms.hasTags && headers['if-none-match'] === tag) return void response.writeHead(304).end();
  if (cms.hasTags) response.setHeader('etag', tag);
  const page = all.slice(from, from + cms.pageSize);
  const next = from + cms.pageSize;
  const told = cms.wrap(page);
  const cursor = next < all.length ? { nextCursor: String(next) } : {};
  send(response, 200, Array.isArray(told) ? told : { ...(told as object), ...cursor });
}

interface Change {
  readonly method: string;
  readonly id: string | undefined;
  readonly body: unknown;
  readonly response: ServerResponse;
}

function change(cms: TestCms, { method, id, body, response }: Change): void {
  const fields = (body ?? {}) as Record<string, unknown>;
  if (method === 'POST') {
    const record = { id: `r${cms.records.size + 1}`, ...fields };
    cms.records.set(record.id, record);
    return send(response, 201, { data: record });
  }
  const before = cms.records.get(id ?? '');
  if (!before || id === undefined) return send(response, 404, {});
  if (method === 'DELETE') cms.records.delete(id);
  else cms.records.set(id, { ...before, ...fields });
  return send(response, 200, { data: cms.records.get(id) ?? {} });
}

/** Answers with a status and JSON. */
export function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
