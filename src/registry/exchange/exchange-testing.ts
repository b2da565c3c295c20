import { afterAll, beforeAll, beforeEach } from 'vitest';
import { openTestTables } from '../../kit/database/testing.ts';
import { createEgress } from '../../kit/egress/egress.ts';
import { plainEnvelope } from '../../kit/envelope.ts';
import { callJson, type JsonAnswer } from '../../kit/http/testing.ts';
import { Lifetime } from '../../kit/lifecycle.ts';
import { createTestServer, listenAnywhere, silentLog } from '../../kit/testing.ts';
import { exchangeHandlers } from '../routes/exchange.ts';
import { checkedRegistrar } from './checked-registrar.ts';
import { exchangeRoutes } from '../schemas/exchange.ts';
import { CmsSyncs } from './cms/cms-sync.ts';
import { MemoryConnections, startCms, type TestCms } from './testing.ts';

const contract = {
  name: 'registry',
  title: 'Registry',
  version: '0',
  description: 'What is taken in and given away.',
  error: plainEnvelope.schema,
  routes: exchangeRoutes,
} as const;

/** Where the registry of the tests says that it is. */
export const registryUrl = 'http://registry.test';

export interface AskOptions {
  readonly body?: unknown;
  readonly claims?: object;
}

/** The routes over HTTP; the connections are new for each test. */
export interface ExchangeGround {
  connections: MemoryConnections;
  cms: TestCms;
  ask(method: string, path: string, options?: AskOptions): Promise<JsonAnswer>;
  load(document: unknown, more?: object): ReturnType<ExchangeGround['ask']>;
}

/** Opens the ground around a file's tests. */
export function useExchangeGround(): ExchangeGround {
  const lifetime = new Lifetime(silentLog);
  // The hooks below fill in the rest before a test can read it.
  const ground = {} as ExchangeGround;
  ground.load = (document, more = {}) =>
    ground.ask('POST', '/registry/import', { body: { document, ...more } });
  beforeAll(async () => {
    ground.cms = lifetime.own('the CMS', await startCms());
    ground.ask = await serve(ground, lifetime);
  });
  beforeEach(() => {
    ground.connections = new MemoryConnections();
  });
  afterAll(() => lifetime[Symbol.asyncDispose]());
  return ground;
}

async function serve(ground: ExchangeGround, lifetime: Lifetime): Promise<ExchangeGround['ask']> {
  const folder = new URL('../migrations/', import.meta.url);
  const sql = lifetime.own('the database', await openTestTables('registry', folder));
  const egress = createEgress({ allow: [], isLoopbackAllowed: true });
  lifetime.own('egress', egress);
  const { http, issuer } = await createTestServer(contract);
  lifetime.defer('http', () => http.close(0));
  const directory = {
    all: () => ground.connections.all(),
    find: (id: string) => ground.connections.find(id),
    findByName: (name: string) => ground.connections.findByName(name),
  };
  const registrar = checkedRegistrar({
    register: (input, author) => ground.connections.register(input, author),
    check: (input) => ground.connections.check(input),
    update: (id, update) => ground.connections.update(id, update),
    disconnect: (id) => ground.connections.disconnect(id),
  });
  const allowList = ground.cms.url;
  const syncs = new CmsSyncs({ sql, egress, directory, registrar, allowList, log: silentLog });
  lifetime.own('the syncs', syncs);
  http.serve(contract, exchangeHandlers({ syncs, directory, registrar, egress, url: registryUrl }));
  const url = await listenAnywhere(http);
  return async (method, path, { body, claims = {} } = {}) => {
    const bearer = await issuer.sign({ permissions: ['registry:write'], ...claims });
    return callJson(url + path, { method, bearer, body });
  };
}
