import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Bus } from '../../kit/bus/bus.ts';
import { openBus } from '../../kit/bus/open-bus.ts';
import type { Database } from '../../kit/database/database.ts';
import { openTestTables } from '../../kit/database/testing.ts';
import { createEgress } from '../../kit/egress/egress.ts';
import { Lifetime } from '../../kit/lifecycle.ts';
import { openSealer } from '../../kit/secrets/sealing.ts';
import { silentLog } from '../../kit/testing.ts';
import type { RegistryEvent } from '../events.ts';
import { checkGivenVariables } from '../processes/environment.ts';
import { Connections } from './connections.ts';

/** What replicas share: tables, a bus and the key files. */
export interface Ground extends AsyncDisposable {
  readonly sql: Database;
  readonly bus: Bus;
  readonly folder: string;
}

/** Empty tables, a bus and a folder for key files. */
export async function openGround(): Promise<Ground> {
  const lifetime = new Lifetime(silentLog);
  const migrations = new URL('../migrations/', import.meta.url);
  const sql = lifetime.own('the database', await openTestTables('registry', migrations));
  const bus = lifetime.own('the bus', await openBus({ log: silentLog }));
  const folder = await mkdtemp(join(tmpdir(), 'ennead-connections-'));
  lifetime.defer('the key files', () => rm(folder, { recursive: true }));
  return { sql, bus, folder, [Symbol.asyncDispose]: () => lifetime[Symbol.asyncDispose]() };
}

export interface ReplicaOptions {
  readonly connectionsMax?: number;
  readonly idleAfterSeconds?: number;
  readonly now?: () => number;
}

/** The connections of one replica, with the events that it told and the checks that it asked for. */
export async function startConnections(ground: Ground, options: ReplicaOptions = {}) {
  const { connectionsMax = 10_000, idleAfterSeconds = 300, now = Date.now } = options;
  const events: RegistryEvent[] = [];
  const checked: string[] = [];
  const egress = createEgress({ allow: [], isLoopbackAllowed: true });
  const connections = new Connections({
    ...ground,
    egress,
    sealer: await openSealer({ folder: ground.folder, mayCreate: true }),
    events: { tell: (event) => events.push(event) },
    log: silentLog,
    checkVariables: checkGivenVariables,
    checkSoon: (id) => checked.push(id),
    connectionsMax,
    idleAfterSeconds,
    now,
  });
  await connections.start();
  const dispose = async () => {
    await connections[Symbol.asyncDispose]();
    await egress[Symbol.asyncDispose]();
  };
  return { connections, events, checked, [Symbol.asyncDispose]: dispose };
}

/** Who registers connections in tests; `execute` also holds `registry:execute`. */
export const writer = { subject: 'usr_writer', permissions: ['registry:write'] };
export const executor = {
  subject: 'usr_executor',
  permissions: ['registry:write', 'registry:execute'],
};
