import { LocalBus } from '../../kit/bus/local-bus.ts';
import type { Contract } from '../../kit/contract.ts';
import { openTestTables } from '../../kit/database/testing.ts';
import { createEgress } from '../../kit/egress/egress.ts';
import { plainEnvelope } from '../../kit/envelope.ts';
import { Lifetime } from '../../kit/lifecycle.ts';
import { createTestServer, listenAnywhere, silentLog } from '../../kit/testing.ts';
import { Tracer } from '../../kit/trace/trace.ts';
import { AgentRegistry } from '../agents/registry.ts';
import { isKeyProved } from '../attestation/schnorr.ts';
import { agentHandlers } from '../routes/agents.ts';
import { taskHandlers } from '../routes/tasks.ts';
import { agentRoutes } from '../schemas/agents.ts';
import { taskRoutes } from '../schemas/tasks.ts';
import { openTaskParts } from '../tasks/task-parts.ts';

const contract = {
  name: 'mesh',
  title: 'Agents and tasks',
  version: '1.0.0',
  description: 'What the client library needs of the mesh.',
  error: plainEnvelope.schema,
  routes: { ...agentRoutes, ...taskRoutes },
} as const satisfies Contract;

/** The agents and the tasks of a mesh behind HTTP. */
export async function startMesh() {
  const lifetime = new Lifetime(silentLog);
  const migrations = new URL('../migrations/', import.meta.url);
  const database = lifetime.own('the database', await openTestTables('mesh', migrations));
  const bus = lifetime.own('the bus', new LocalBus({ log: silentLog }));
  const egress = lifetime.own('egress', createEgress({ allow: [], isLoopbackAllowed: true }));
  const tracer = new Tracer(() => {});
  const activity = { tell: () => {} };
  const shared = { bus, egress, activity, log: silentLog };
  const registry = new AgentRegistry({
    ...shared,
    sql: database,
    checkKeyProof: (agentId, publicKey, proof) => isKeyProved(publicKey, agentId, proof),
    isAttested: () => false,
  });
  lifetime.own('the agents', registry);
  await registry.start();
  const { directory } = registry;
  const parts = await openTaskParts({ ...shared, database, tracer, directory });
  const { http, issuer } = await createTestServer(contract);
  const metrics = { message: () => {}, discovered: () => {} };
  const { runner: tasks, access, inbox, local } = parts;
  http.serve(contract, {
    ...agentHandlers({ registry, metrics, revokeAll: async () => {}, agentGone: async () => {} }),
    ...taskHandlers({ tasks, access, inbox }),
  });
  const url = await listenAnywhere(http);
  lifetime.defer('http', () => http.close(0));
  lifetime.own('the tasks', parts);
  const tokenOf = (sub: string) => issuer.sign({ sub, permissions: ['mesh:communicate'] });
  return {
    url,
    registry,
    tasks,
    local,
    tracer,
    tokenOf,
    [Symbol.asyncDispose]: () => lifetime[Symbol.asyncDispose](),
  };
}
