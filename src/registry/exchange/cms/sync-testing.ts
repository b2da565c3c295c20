import { afterAll, beforeAll, beforeEach } from 'vitest';
import type { Database } from '../../../kit/database/database.ts';
import { openTestTables } from '../../../kit/database/testing.ts';
import { createEgress } from '../../../kit/egress/egress.ts';
import type { Identity } from '../../../kit/identity/identity.ts';
import { Lifetime } from '../../../kit/lifecycle.ts';
import { silentLog } from '../../../kit/testing.ts';
import { CmsSyncs, type SyncRequest } from './cms-sync.ts';
import type { SyncResult } from './sync-result.ts';
import { cmsKey, MemoryConnections, startCms, type TestCms } from '../testing.ts';

const identity: Identity = {
  subject: 'usr_operator',
  kind: 'user',
  roles: [],
  permissions: ['*'],
  clientId: 'test',
  name: undefined,
  email: undefined,
  scope: '',
  tokenId: 'tok_1',
  sessionId: 'ses_1',
  tokenEpoch: 0,
  isNarrowed: false,
  expiresAt: 0,
};

/** What a test of syncs works with; the CMS and the connections are new for each. */
export interface SyncGround {
  readonly lifetime: Lifetime;
  readonly egress: ReturnType<typeof createEgress>;
  database: Database;
  cms: TestCms;
  connections: MemoryConnections;
  syncs: CmsSyncs;
  openSyncs(): CmsSyncs;
  sync(request?: Partial<SyncRequest>, by?: CmsSyncs): Promise<SyncResult>;
}

/** Opens the ground around a file's tests. */
export function useSyncGround(): SyncGround {
  const lifetime = new Lifetime(silentLog);
  const egress = createEgress({ allow: [], isLoopbackAllowed: true });
  // The hooks below fill in the rest before a test can read it.
  const ground = { lifetime, egress } as SyncGround;
  ground.openSyncs = () =>
    new CmsSyncs({
      sql: ground.database,
      egress,
      directory: ground.connections,
      registrar: ground.connections,
      allowList: `https://cms.example.com, ${ground.cms.url}`,
      log: silentLog,
      requestTimeoutMs: 1_000,
    });
  ground.sync = (request = {}, by = ground.syncs) =>
    by.sync(
      {
        cmsEndpoint: ground.cms.url,
        apiKey: cmsKey,
        syncMode: 'bidirectional',
        dryRun: false,
        allowMassRemoval: false,
        restoreRemoved: false,
        ...request,
      },
      identity,
      new AbortController().signal,
    );
  beforeAll(async () => {
    lifetime.own('egress', egress);
    const tables = await openTestTables('registry', new URL('../../migrations/', import.meta.url));
    ground.database = lifetime.own('the database', tables);
  });
  beforeEach(async () => {
    ground.cms = await startCms();
    ground.connections = new MemoryConnections();
    ground.syncs = ground.openSyncs();
    return async () => {
      await ground.syncs[Symbol.asyncDispose]();
      await ground.cms[Symbol.asyncDispose]();
    };
  });
  afterAll(() => lifetime[Symbol.asyncDispose]());
  return ground;
}

/** Puts a record into the CMS as one that was filled by hand. */
export function putRecord(cms: TestCms, id: string, fields: Record<string, unknown> = {}): void {
  const record = { id, name: `server-${id}`, url: `http://127.0.0.1:9/${id}`, ...fields };
  cms.records.set(id, record);
}
