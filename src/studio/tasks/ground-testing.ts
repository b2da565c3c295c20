import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LocalBus } from '../../kit/bus/local-bus.ts';
import { openTestTables } from '../../kit/database/testing.ts';
import { Lifetime } from '../../kit/lifecycle.ts';
import { silentLog } from '../../kit/testing.ts';
import { Tracer } from '../../kit/trace/trace.ts';
import { WorkspaceDirectory } from '../workspaces/workspace-directory.ts';
import type { DispatchTimes } from './dispatcher.ts';
import { StoredTasks, type TaskLimits } from './stored-tasks.ts';
import { GivenAgents, GivenMesh, GivenWorkflows } from './testing.ts';

type GivenLimits = Partial<Omit<TaskLimits, 'times'>> & {
  readonly times?: Partial<DispatchTimes>;
};

const timesOfTests: DispatchTimes = {
  ageingMs: 600_000,
  waitMsMax: 600_000,
  retryMs: 5,
  lookMs: 20,
};

/** A database, a bus, real workspaces, and agents, mesh and workflows as a test says they are. */
export async function openTaskGround() {
  const lifetime = new Lifetime(silentLog);
  const { database, bus, workspaces } = await openStores(lifetime);
  const started: StoredTasks[] = [];
  const ground = {
    ...othersOf(),
    database,
    bus,
    workspaces,
    /** A replica, or the next life of the only one. */
    startTasks: async (limits: GivenLimits = {}) => {
      const { agents, mesh, workflow } = ground;
      const tasks = new StoredTasks({
        sql: database,
        bus,
        log: silentLog,
        tracer: new Tracer(() => {}),
        agents,
        workspaces,
        mesh,
        workflow,
        limits: { ...limits, times: { ...timesOfTests, ...limits.times } },
      });
      await tasks.start();
      started.push(tasks);
      return tasks;
    },
    /** Ends a life of the studio; as others see it, as a crash would. */
    leave: async (tasks: StoredTasks) => {
      started.splice(started.indexOf(tasks), 1);
      await tasks[Symbol.asyncDispose]();
    },
    /** Ends all lives, and forgets all that was. */
    clear: async () => {
      for (const tasks of started.splice(0)) await tasks[Symbol.asyncDispose]();
      await database.query('truncate studio.tasks, studio.task_dispatcher');
      Object.assign(ground, othersOf());
    },
    [Symbol.asyncDispose]: () => lifetime[Symbol.asyncDispose](),
  };
  return ground;
}

function othersOf() {
  return { agents: new GivenAgents(), mesh: new GivenMesh(), workflow: new GivenWorkflows() };
}

async function openStores(lifetime: Lifetime) {
  const migrations = new URL('../migrations/', import.meta.url);
  const database = lifetime.own('tables', await openTestTables('studio', migrations));
  const bus = lifetime.own('the bus', new LocalBus({ log: silentLog }));
  const root = await mkdtemp(join(tmpdir(), 'ennead-tasks-'));
  lifetime.defer('the folder', () => rm(root, { recursive: true }));
  const workspaces = new WorkspaceDirectory({
    sql: database,
    bus,
    log: silentLog,
    root,
    clear: async () => {},
    quotaBytes: 2 ** 30,
  });
  lifetime.own('the workspaces', workspaces);
  await workspaces.start();
  return { database, bus, workspaces };
}
