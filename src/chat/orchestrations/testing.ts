import { LocalBus } from '../../kit/bus/local-bus.ts';
import type { Bus } from '../../kit/bus/bus.ts';
import { createClient } from '../../kit/client.ts';
import type { Database } from '../../kit/database/database.ts';
import { openTestTables } from '../../kit/database/testing.ts';
import type { Identity } from '../../kit/identity/identity.ts';
import { Lifetime } from '../../kit/lifecycle.ts';
import { silentLog } from '../../kit/testing.ts';
import { Tracer } from '../../kit/trace/trace.ts';
import { meshContract } from '../../mesh/contract.ts';
import type { Caller } from '../caller.ts';
import { MeshOrchestrations, type MeshOrchestrationsOptions } from './mesh-orchestrations.ts';
import type { Orchestration, Orchestrations } from './orchestration.ts';
import { ProgressFeed } from './progress-feed.ts';

/** What replicas share. */
export interface OrchestrationGround extends AsyncDisposable {
  readonly database: Database;
  readonly bus: Bus;
}

/** Empty tables and a bus; whoever opens it closes it after the replicas. */
export async function openOrchestrationGround(): Promise<OrchestrationGround> {
  const lifetime = new Lifetime(silentLog);
  const migrations = new URL('../migrations/', import.meta.url);
  const database = lifetime.own('the database', await openTestTables('chat', migrations));
  const bus = lifetime.own('the bus', new LocalBus({ log: silentLog }));
  return { database, bus, [Symbol.asyncDispose]: () => lifetime[Symbol.asyncDispose]() };
}

export interface OrchestrationReplica extends AsyncDisposable {
  readonly orchestrations: MeshOrchestrations;
  readonly progress: ProgressFeed;
}

/** One of several replicas, which renews its leases quickly; `ownToken` is that of the service itself. */
export async function openOrchestrations(
  ground: Pick<OrchestrationGround, 'database' | 'bus'>,
  meshUrl: string,
  {
    ownToken = () => Promise.resolve('own'),
    ...over
  }: Partial<MeshOrchestrationsOptions> & { readonly ownToken?: () => Promise<string> } = {},
): Promise<OrchestrationReplica> {
  const { database, bus } = ground;
  const lifetime = new Lifetime(silentLog);
  const tracer = new Tracer(() => {});
  const progress = lifetime.own('the progress', new ProgressFeed({ bus, log: silentLog }));
  await progress.start();
  const clientOf = (token: () => Promise<string>) =>
    createClient(meshContract, { baseUrl: meshUrl, token, tracer });
  const orchestrations = new MeshOrchestrations({
    database,
    bus,
    readerOf: ({ credential }) => clientOf(() => Promise.resolve(credential)),
    tasks: clientOf(ownToken),
    progress,
    tracer,
    log: silentLog,
    isAlone: false,
    beatMs: 100,
    ...over,
  });
  lifetime.own('the orchestrations', orchestrations);
  await orchestrations.open();
  return { orchestrations, progress, [Symbol.asyncDispose]: () => lifetime[Symbol.asyncDispose]() };
}

/** A caller of a subject, who may orchestrate unless told otherwise. */
export function callerOf(
  subject: string,
  { permissions = ['agent:execute'], credential = `token of ${subject}` } = {},
): Caller {
  // What nothing of this area looks at is left out.
  const identity = { subject, permissions } as unknown as Identity;
  return { identity, credential };
}

/** The orchestration once it has ended; rejects when that takes too long. */
export async function untilEnded(
  orchestrations: Pick<Orchestrations, 'find'>,
  { ownerId, id }: Pick<Orchestration, 'ownerId' | 'id'>,
): Promise<Orchestration> {
  const untilMs = Date.now() + 20_000;
  for (;;) {
    const found = await orchestrations.find(ownerId, id);
    if (found.endedAtMs !== undefined) return found;
    if (Date.now() > untilMs) throw new Error(`${id} has not ended: ${JSON.stringify(found)}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
