import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo, LookupFunction } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Bus } from '../../kit/bus/bus.ts';
import { openBus } from '../../kit/bus/open-bus.ts';
import { readConfig, type Environment } from '../../kit/config.ts';
import type { Database } from '../../kit/database/database.ts';
import { openGatewayDatabase } from '../cache/testing.ts';
import { createEgress } from '../../kit/egress/egress.ts';
import { Lifetime } from '../../kit/lifecycle.ts';
import type { Log } from '../../kit/log.ts';
import { silentLog } from '../../kit/testing.ts';
import { gatewaySettings } from '../config.ts';
import { Providers, type ProvidersOptions } from './providers.ts';

/** What outlives one start of the providers: a database, a data folder and a bus. */
export interface ProviderGround extends AsyncDisposable {
  readonly database: Database;
  readonly dataFolder: string;
  readonly bus: Bus;
  /** Opens the providers of one replica; they end with the ground. */
  open(options?: ReplicaOptions): Promise<Providers>;
  /** Forgets what was put. */
  clear(): Promise<void>;
}

export interface ReplicaOptions {
  readonly environment?: Environment;
  readonly log?: Log;
  /** With a bus of its own, so that nobody tells it of changes. */
  readonly isAlone?: boolean;
}

/** An empty ground whose egress reaches loopback and nothing else. */
export async function openProviderGround(): Promise<ProviderGround> {
  const lifetime = new Lifetime(silentLog);
  const dataFolder = await mkdtemp(join(tmpdir(), 'ennead-gateway-'));
  lifetime.defer('the data folder', () => rm(dataFolder, { recursive: true }));
  const database = lifetime.own('the database', await openGatewayDatabase());
  const bus = lifetime.own('the bus', await openBus({ log: silentLog }));
  const policy = { allow: [], isLoopbackAllowed: true };
  const egress = lifetime.own('egress', createEgress(policy, { lookup: refuseNames }));
  const openLonelyBus = async () =>
    lifetime.own('a bus of its own', await openBus({ log: silentLog }));
  const open = async ({ environment = {}, log = silentLog, isAlone }: ReplicaOptions = {}) => {
    const { own: config } = readConfig({ own: gatewaySettings }, environment);
    const options: ProvidersOptions = {
      host: {
        config,
        egress,
        database,
        bus: isAlone ? await openLonelyBus() : bus,
        dataFolder,
        log,
      },
      credentials: (_dialect, key) => ({ authorization: `Bearer ${key}` }),
      refreshMs: 3_600_000,
      hasUnheardWriters: () => isAlone ?? false,
    };
    return lifetime.own('providers', await Providers.open(options));
  };
  return {
    database,
    dataFolder,
    bus,
    open,
    clear: async () => void (await database.query('delete from gateway.providers')),
    [Symbol.asyncDispose]: () => lifetime[Symbol.asyncDispose](),
  };
}

/** No test reaches a real provider. */
const refuseNames: LookupFunction = (hostname, _options, callback) => {
  callback(new Error(`getaddrinfo ENOTFOUND ${hostname}`), []);
};

/** An upstream that only says which models it has. */
export interface Lister extends AsyncDisposable {
  readonly origin: string;
  /** What the next questions are answered with, by path; 404 for the rest. */
  readonly answers: Map<string, unknown>;
  readonly asked: { readonly url: string; readonly headers: IncomingHttpHeaders }[];
}

/** Starts one on a free port of the loopback. */
export async function startLister(): Promise<Lister> {
  const answers = new Map<string, unknown>();
  const asked: { url: string; headers: IncomingHttpHeaders }[] = [];
  const server = createServer(({ url = '', headers }, response) => {
    asked.push({ url, headers });
    const answer = answers.get(url);
    response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer ?? {}));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A listening TCP server has an address object.
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    answers,
    asked,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
