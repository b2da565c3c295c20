import { hostname } from 'node:os';
import { newId } from '../../kit/ids.ts';
import type { Database } from '../../kit/database/database.ts';
import type { Bus } from '../../kit/bus/bus.ts';
import { Lifetime } from '../../kit/lifecycle.ts';
import type { Log } from '../../kit/log.ts';
import type { Runtime } from '../runtimes/runtime.ts';
import type { Workspaces } from '../workspaces/workspace.ts';
import { AgentDirectory } from './agent-directory.ts';
import { AgentLogs } from './agent-logs.ts';
import type { Credentials } from './credentials.ts';
import { ManagedAgents } from './managed-agents.ts';
import type { Presence } from './presence.ts';
import type { StartSettings } from './program-start.ts';
import type { SpawnLimits, Template } from './spawn-request.ts';
import { SpareKeys } from './spare-keys.ts';
import { Supervisor } from './supervisor.ts';
import { WarmPool } from './warm-pool.ts';

export interface AgentPartsOptions {
  readonly database: Database;
  readonly bus: Bus;
  readonly log: Log;
  readonly runtimes: readonly Runtime[];
  readonly templates: readonly Template[];
  readonly credentials: Credentials;
  readonly presence: Presence;
  readonly workspaces: Pick<Workspaces, 'require'>;
  readonly settings: StartSettings;
  readonly limits: SpawnLimits;
  readonly startTimeoutMs: number;
  readonly stopGraceMs: number;
  /** Programs that wait to be told who they are, of each template; local ones alone. */
  readonly warmAgents: number;
  /** Another machine's name, in tests. */
  readonly place?: string;
  /** Before the first restart; a second unless told. */
  readonly restartMs?: number;
  /** How often agents are looked after; twice a second unless told. */
  readonly lookMs?: number;
}

/** The agents and what shows of them. Disposing it leaves them to the next start. */
export interface AgentParts extends AsyncDisposable {
  readonly agents: ManagedAgents;
  readonly logs: AgentLogs;
  readonly runtimes: readonly Runtime[];
  readonly templates: readonly Template[];
  /** Takes over what an earlier process left; resolves before all of it runs. */
  start(): Promise<void>;
}

/** Puts the agents together; nothing is done before `start`. The runtimes stay the caller's. */
export function createAgentParts(options: AgentPartsOptions): AgentParts {
  const { database: sql, bus, log, runtimes: all, templates, credentials, presence } = options;
  const { workspaces, settings, limits, startTimeoutMs, stopGraceMs } = options;
  const lifetime = new Lifetime(log);
  const runtimes = new Map(all.map((runtime) => [runtime.name, runtime]));
  const replica = { id: newId('rep'), place: options.place ?? hostname() };
  const logs = lifetime.own('the logs of agents', new AgentLogs({ sql, log }));
  const directory = new AgentDirectory({ sql, bus, log });
  lifetime.own('the news of agents', directory);
  const shared = { sql, log, logs, directory, credentials, presence, replica };
  const isAlone = sql.dialect === 'pglite';
  const spareKeys = new SpareKeys({ sql, log, credentials, replicaId: replica.id, isAlone });
  const supervisor = new Supervisor({
    ...shared,
    spareKeys,
    settings,
    startTimeoutMs,
    stopGraceMs,
    runtimes,
    restartMs: options.restartMs ?? 1_000,
    lookMs: options.lookMs ?? 500,
    isAlone,
  });
  lifetime.own('the agents', supervisor);
  const warm = createWarmPool(options, spareKeys);
  if (warm) lifetime.own('the warm agents', warm);
  const endWaitMs = stopGraceMs + 5_000;
  const managed = {
    ...shared,
    supervisor,
    workspaces,
    runtimes,
    warm,
    templates,
    limits,
    endWaitMs,
  };
  return {
    agents: new ManagedAgents(managed),
    logs,
    runtimes: all,
    templates,
    start: async () => {
      await directory.start();
      await supervisor.start();
      warm?.start();
    },
    [Symbol.asyncDispose]: () => lifetime[Symbol.asyncDispose](),
  };
}

function createWarmPool(
  { runtimes, templates, warmAgents, log, settings }: AgentPartsOptions,
  keys: SpareKeys,
): WarmPool | undefined {
  const runtime = runtimes.find(({ name }) => name === 'local');
  if (!runtime || warmAgents === 0) return undefined;
  const shapes = templates.map(({ resources }) => resources);
  return new WarmPool({
    runtime,
    log,
    keys,
    authUrl: settings.urls.auth,
    perShape: warmAgents,
    shapes,
  });
}
