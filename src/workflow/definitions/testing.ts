import type { Bus } from '../../kit/bus/bus.ts';
import { openBus } from '../../kit/bus/open-bus.ts';
import type { Database } from '../../kit/database/database.ts';
import { openTestTables } from '../../kit/database/testing.ts';
import { Lifetime } from '../../kit/lifecycle.ts';
import type { Sealer } from '../../kit/secrets/sealing.ts';
import { silentLog } from '../../kit/testing.ts';
import { createTable } from '../components/table.ts';
import { logicComponents } from '../components/logic/logic-components.ts';
import type { Flow } from '../flow/flow.ts';
import { Definitions } from './definitions.ts';
import { FlowSecrets } from './flow-secrets.ts';
import { FlowCompiler } from './flow-compiler.ts';
import { Plans } from './plans.ts';
import { WorkflowSecrets } from './workflow-secrets.ts';

const migrations = new URL('../migrations/', import.meta.url);

const openSealer: Pick<Sealer, 'seal' | 'unseal'> = {
  seal: (plain, context) => `${context}:${Buffer.from(plain).toString('base64url')}`,
  unseal: (sealed, context) => Buffer.from(sealed.slice(context.length + 1), 'base64url'),
};

/** Components that decide and wait; nothing here runs. */
const components = createTable(
  logicComponents({
    now: Date.now,
    approvalLink: () => '',
    starter: () => {
      throw new Error('nothing is started here');
    },
    requireNameable: async () => {},
  }),
);

/** Tables and a bus, shared by the replicas of a test. */
export async function openGround() {
  const lifetime = new Lifetime(silentLog);
  const sql = lifetime.own('the database', await openTestTables('workflow', migrations));
  const bus = lifetime.own('the bus', await openBus({ log: silentLog }));
  return { sql, bus, [Symbol.asyncDispose]: () => lifetime[Symbol.asyncDispose]() };
}

/** One replica's definitions. */
export async function openDefinitions({ sql, bus }: { sql: Database; bus: Bus }) {
  const compiler = new FlowCompiler(components);
  const flowSecrets = new FlowSecrets({ components, sealer: openSealer });
  const plans = await Plans.open({ sql, bus, compiler, flowSecrets });
  const secrets = new WorkflowSecrets(sql, openSealer);
  return {
    plans,
    secrets,
    definitions: new Definitions({ sql, plans, compiler, secrets, flowSecrets }),
  };
}

/** A flow of so many nodes in a row. */
export function chainOf(length: number): Flow {
  const ids = Array.from({ length }, (_, place) => `n${place}`);
  return {
    nodes: ids.map((id) => ({ id, type: 'Merge', data: { inputs: { id } } })),
    edges: ids.slice(1).map((target, place) => ({ source: ids[place] ?? '', target })),
  };
}
