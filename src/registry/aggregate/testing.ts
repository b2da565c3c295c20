import type { Client, RequestOptions } from '@modelcontextprotocol/client';
import { readdir, readFile } from 'node:fs/promises';
import { openBus } from '../../kit/bus/open-bus.ts';
import type { Database } from '../../kit/database/database.ts';
import { openTestDatabase } from '../../kit/database/testing.ts';
import { mcpEnvelope } from '../../kit/mcp/mcp-envelope.ts';
import { Lifetime } from '../../kit/lifecycle.ts';
import { createTestServer, listenAnywhere, silentLog } from '../../kit/testing.ts';
import { Tracer, type SpanRecord } from '../../kit/trace/trace.ts';
import { Calls } from '../calls/calls.ts';
import { Exchanges } from '../calls/exchange.ts';
import type { Connection } from '../connections/connection.ts';
import { ConnectionDirectory } from '../connections/directory.ts';
import type { RegistryEvent } from '../events.ts';
import type { ExchangeOptions, Link, LinkProgress, Links, Offer } from '../links/link.ts';
import { callsHandlers } from '../routes/calls.ts';
import { callsRoutes } from '../schemas/calls.ts';
import type { Outcome } from '../traffic/traffic.ts';
import { Catalog } from './catalog.ts';
import { Doors } from './doors.ts';
import { Errands } from './errands.ts';
import { VirtualServers } from './virtual-servers.ts';

const contract = {
  name: 'registry',
  title: 'Registry',
  version: '0.2.0',
  description: 'Calls and what is gathered.',
  error: mcpEnvelope.schema,
  routes: callsRoutes,
} as const;

export type TestLinks = Pick<Links, 'open'>;

/** Everything that calls and the aggregated server tell other parts. */
export interface Told {
  readonly events: RegistryEvent[];
  readonly ended: { readonly connectionId: string; readonly outcome: Outcome }[];
  readonly passive: { readonly connectionId: string; readonly outcome: Outcome }[];
  readonly active: string[];
  readonly spans: SpanRecord[];
}

/** Calls, the aggregated server and virtual servers on an HTTP edge, over the given links. */
export async function openAggregate(links: TestLinks) {
  const lifetime = new Lifetime(silentLog);
  const sql = lifetime.own('the database', await openTestDatabase());
  await createOwnTable(sql);
  const bus = lifetime.own('the bus', await openBus({ log: silentLog }));
  const { http, issuer } = await createTestServer(contract);
  const told: Told = { events: [], ended: [], passive: [], active: [], spans: [] };
  const directory = new ConnectionDirectory();
  const events = { tell: (event: RegistryEvent) => void told.events.push(event) };
  const exchanges = new Exchanges({
    directory,
    links,
    events,
    notes: {
      noteActive: (id) => {
        told.active.push(id);
        return undefined;
      },
    },
    traffic: {
      begin: (connectionId) => ({
        end: (outcome) => void told.ended.push({ connectionId, outcome }),
      }),
    },
    health: {
      notePassive: (connectionId, outcome) => void told.passive.push({ connectionId, outcome }),
    },
    tracer: new Tracer((span) => told.spans.push(span)),
  });
  const choose = (capability: string, { excluded }: { excluded: ReadonlySet<string> }) =>
    [...directory.offering(capability)].find(({ id }) => !excluded.has(id));
  const calls = new Calls({ exchanges, choose, events });
  const catalog = lifetime.own('the catalog', asyncOf(new Catalog(directory))).inner;
  const parts = { sql, bus, catalog, log: silentLog };
  const virtualServers = lifetime.own('virtual servers', new VirtualServers(parts));
  await virtualServers.start();
  const url = 'http://registry.test';
  const errands = new Errands(exchanges);
  const doors = lifetime.own(
    'the doors',
    new Doors({ catalog, directory, virtualServers, errands, url, version: '0', log: silentLog }),
  );
  lifetime.defer('http', () => http.close(0));
  http.serve(contract, callsHandlers({ calls, doors, virtualServers, url }));
  const address = await listenAnywhere(http);
  const token = (permissions: readonly string[]) => issuer.sign({ permissions });
  return {
    address,
    token,
    directory,
    told,
    parts,
    [Symbol.asyncDispose]: () => lifetime[Symbol.asyncDispose](),
  };
}

/** Of the service's tables the one that is used here, so that it stands on no other area. */
async function createOwnTable(sql: Database): Promise<void> {
  const folder = new URL('../migrations/', import.meta.url);
  const names = await readdir(folder);
  const own = names.find((name) => name.endsWith('-virtual-servers.sql')) ?? '';
  await sql.query('drop schema if exists registry cascade');
  await sql.query('create schema registry');
  await sql.query(await readFile(new URL(own, folder), 'utf8'));
}

function asyncOf<T extends Disposable>(inner: T) {
  return { inner, [Symbol.asyncDispose]: async () => inner[Symbol.dispose]() };
}

export const emptyOffer: Offer = { tools: [], prompts: [], resources: [], resourceTemplates: [] };

let revisions = 0;

/** A connection as the directory holds it. */
export function aConnection(fields: Partial<Connection> & { readonly name: string }): Connection {
  revisions += 1;
  const base = {
    // In the order in which they are made, also within a millisecond.
    id: `con_${String(revisions).padStart(12, '0')}`,
    type: 'server',
    status: 'active',
    protocol: 'http',
    endpoint: { url: 'http://127.0.0.1:1' },
    ownerId: 'usr_test',
    declared: [],
    offer: emptyOffer,
    quarantined: [],
    metadata: {},
    healthCheck: { enabled: false, interval: 30, timeout: 5000 },
    health: { status: 'healthy', checksPerformed: 0, failedChecks: 0, failuresInRow: 0 },
    createdAtMs: Date.now(),
    lastActiveAtMs: Date.now(),
  };
  // The protocol and the endpoint are given together, or neither.
  return { ...base, ...fields, revision: revisions } as Connection;
}

function report(onProgress: (progress: LinkProgress) => void) {
  return ({
    progress,
    total,
    message,
  }: {
    progress: number;
    total?: number | undefined;
    message?: string | undefined;
  }) =>
    onProgress({
      progress,
      ...(total === undefined ? {} : { total }),
      ...(message === undefined ? {} : { message }),
    });
}

function optionsOf({ signal, timeoutMs, onProgress }: ExchangeOptions = {}): RequestOptions {
  return {
    ...(signal ? { signal } : {}),
    ...(timeoutMs ? { timeout: timeoutMs } : {}),
    ...(onProgress ? { onprogress: report(onProgress) } : {}),
  };
}

/** A link over the official client, with what its server has. */
export async function linkOver(client: Client): Promise<{ link: Link; offer: Offer }> {
  const capabilities = client.getServerCapabilities() ?? {};
  const { tools } = capabilities.tools ? await client.listTools() : { tools: [] };
  const { prompts } = capabilities.prompts ? await client.listPrompts() : { prompts: [] };
  const { resources } = capabilities.resources ? await client.listResources() : { resources: [] };
  const { resourceTemplates } = capabilities.resources
    ? await client.listResourceTemplates()
    : { resourceTemplates: [] };
  const offer = { tools, prompts, resources, resourceTemplates };
  const link: Link = {
    server: { name: 'test', version: '1', protocolVersion: '2025-11-25', era: 'legacy' },
    activeCount: 0,
    probe: async () => {},
    learn: async () => offer,
    callTool: (name, input, given) =>
      client.callTool({ name, arguments: { ...input } }, optionsOf(given)),
    readResource: (uri, given) => client.readResource({ uri }, optionsOf(given)),
    getPrompt: (name, input, given) =>
      client.getPrompt({ name, arguments: { ...input } }, optionsOf(given)),
    complete: (request, given) => client.complete(request, optionsOf(given)),
  };
  return { link, offer };
}
