import { DBOS } from '@dbos-inc/dbos-sdk';
import { PGlite } from '@electric-sql/pglite';
import { Pool } from 'pg';
import { openBus } from '../../src/kit/bus/open-bus.ts';
import { openDatabase, type Database } from '../../src/kit/database/database.ts';
import { newId } from '../../src/kit/ids.ts';
import { silentLog } from '../../src/kit/testing.ts';
import type { Component } from '../../src/workflow/components/component.ts';
import type { EngineOptions } from '../../src/workflow/engine/engine-options.ts';
import {
  makeComponent,
  makePlan,
  openTestEngine,
  startOf,
} from '../../src/workflow/engine/testing.ts';
import type { Plan } from '../../src/workflow/flow/plan.ts';
import { openNodeRed } from './node-red.ts';
import { PglitePool } from './pglite-pool.ts';

/** Runs one execution of steps that do nothing, to its end. */
export type RunOne = () => Promise<unknown>;

const nodeIds = chainIds(5);
const noop = makeComponent('NoOp', { run: () => ({ kind: 'done', output: { isDone: true } }) });
const migrations = new URL('../../src/workflow/migrations/', import.meta.url);

/**
 * Ways to run steps, five unless the name says more; each on PostgreSQL where there is an address, else
 * on PGlite. All but Node-RED's are durable.
 */
export const ways: Readonly<Record<string, (url: string | undefined) => Promise<RunOne>>> = {
  ours: (url) => openOurs(url, makePlan(chainOf(nodeIds, noop))),
  'ours, 300 in a row': (url) => openOurs(url, makePlan(chainOf(chainIds(300), noop))),
  'ours, 298 at once': (url) => openOurs(url, makePlan(wideFlow())),
  floor: (url) => openFloor(url, nodeIds),
  'floor, 300 in a row': (url) => openFloor(url, chainIds(300)),
  dbos: openDbos,
  'node-red': () => openNodeRed(nodeIds),
};

/** So many node ids. */
export function chainIds(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `n${index}`);
}

/** A flow whose nodes follow one another. */
export function chainOf(ids: readonly string[], component: Component) {
  return {
    nodes: Object.fromEntries(ids.map((id) => [id, component])),
    edges: ids.slice(1).map((id, index) => `${ids[index]}>${id}`),
  };
}

/** An engine on tables of its own; those that are there already are kept when it says so. */
export async function openBenchEngine(
  database: Database,
  plan: Plan,
  options: Partial<EngineOptions> & { readonly keepsTables?: boolean } = {},
) {
  const { keepsTables, ...rest } = options;
  if (!keepsTables) await database.query('drop schema if exists workflow cascade');
  await database.migrate('workflow', migrations);
  const bus = await openBus({ log: silentLog });
  const plans = new Map([['chain', plan]]);
  const isAlone = database.dialect === 'pglite';
  const { engine } = await openTestEngine({ database, bus, plans }, { isAlone, ...rest });
  return engine;
}

async function openOurs(url: string | undefined, plan: Plan): Promise<RunOne> {
  const engine = await openBenchEngine(await open(url), plan);
  return async () => {
    const { id } = await engine.start(startOf('chain'));
    const ended = await engine.wait(id, { timeoutMs: 60_000 });
    if (ended.status !== 'completed') throw new Error(`an execution ended ${ended.status}`);
  };
}

function wideFlow() {
  const ids = chainIds(298);
  return {
    nodes: Object.fromEntries(['first', ...ids, 'last'].map((id) => [id, noop])),
    edges: ids.flatMap((id) => [`first>${id}`, `${id}>last`]),
  };
}

/** What anybody pays who stores the start, each step and the end with a statement each. */
async function openFloor(url: string | undefined, ids: readonly string[]): Promise<RunOne> {
  const database = await open(url);
  await database.query('drop schema if exists floor cascade');
  await database.query('create schema floor');
  await database.query(
    `create table floor.executions (id text primary key, flow jsonb, inputs jsonb, status text,
       owner text, lease timestamptz, output jsonb)`,
  );
  await database.query(
    `create table floor.node_runs (execution_id text, node_id text, iteration int default 0,
       status text, output jsonb, ms real, primary key (execution_id, node_id, iteration))`,
  );
  const flow = JSON.stringify({ nodes: ids });
  return async () => {
    const id = newId('exe');
    await database.query(
      `insert into floor.executions (id, flow, inputs, status, owner, lease)
       values ($1, $2, '{}', 'running', 'me', now() + interval '30s')`,
      [id, flow],
    );
    for (const nodeId of ids) {
      await database.query(
        `insert into floor.node_runs (execution_id, node_id, status, output, ms)
         values ($1, $2, 'ok', $3, $4) on conflict do nothing`,
        [id, nodeId, '{"isDone":true}', 1],
      );
    }
    const end = `update floor.executions set status = 'done', output = $2 where id = $1`;
    await database.query(end, [id, '{}']);
  };
}

async function openDbos(url: string | undefined): Promise<RunOne> {
  // What DBOS asks of a pool is what both have.
  const pool = (
    url === undefined ? new PglitePool(await PGlite.create()) : new Pool({ connectionString: url })
  ) as Pool;
  DBOS.setConfig({
    name: 'bench',
    systemDatabasePool: pool,
    runAdminServer: false,
    logLevel: 'error',
  });
  const run = DBOS.registerWorkflow(
    async () => {
      for (const name of nodeIds) await DBOS.runStep(async () => ({ isDone: true }), { name });
    },
    { name: 'chain' },
  );
  await DBOS.launch();
  return () => run();
}

function open(url: string | undefined): Promise<Database> {
  return openDatabase(url === undefined ? {} : { url });
}
