import type { Bus } from '../../kit/bus/bus.ts';
import { LocalBus } from '../../kit/bus/local-bus.ts';
import type { Contract } from '../../kit/contract.ts';
import type { Database } from '../../kit/database/database.ts';
import { openTestTables } from '../../kit/database/testing.ts';
import { createEgress } from '../../kit/egress/egress.ts';
import { plainEnvelope } from '../../kit/envelope.ts';
import { Lifetime } from '../../kit/lifecycle.ts';
import { createTestServer, listenAnywhere, silentLog, type TestIssuer } from '../../kit/testing.ts';
import { ActivityFeed } from '../activity/activity-feed.ts';
import { MeshMetrics } from '../activity/mesh-metrics.ts';
import { activityHandlers, activitySocketHandlers } from '../routes/activity.ts';
import { agentHandlers } from '../routes/agents.ts';
import { activityRoutes, activitySockets } from '../schemas/activity.ts';
import { agentRoutes } from '../schemas/agents.ts';
import { AgentRegistry, type RegistryOptions } from './registry.ts';

const contract = {
  name: 'mesh',
  title: 'Agents',
  version: '1.0.0',
  description: 'Agents and what they do.',
  error: plainEnvelope.schema,
  routes: { ...agentRoutes, ...activityRoutes },
  sockets: activitySockets,
} as const satisfies Contract;

/** What replicas share. */
export interface Ground extends AsyncDisposable {
  readonly database: Database;
  readonly bus: Bus;
}

/** Empty tables of the mesh and a bus. */
export async function openGround(): Promise<Ground> {
  const lifetime = new Lifetime(silentLog);
  const migrations = new URL('../migrations/', import.meta.url);
  const database = lifetime.own('the database', await openTestTables('mesh', migrations));
  const bus = lifetime.own('the bus', new LocalBus({ log: silentLog }));
  return { database, bus, [Symbol.asyncDispose]: () => lifetime[Symbol.asyncDispose]() };
}

// Tests read whatever they expect; a wrong expectation fails them.
// oxlint-disable-next-line typescript/no-explicit-any
export type Answer = any;

/** A replica's agents and activity behind HTTP; every proof of a key whose response is 0x01 holds. */
export async function startAgents(
  { database, bus }: Ground,
  options: Partial<Pick<RegistryOptions, 'isAttested' | 'now' | 'heartbeatInterval'>> = {},
) {
  const lifetime = new Lifetime(silentLog);
  const metrics: MeshMetrics = new MeshMetrics({
    agents: () => registry.directory.all(),
    activeSwarms: () => 0,
  });
  const feed = new ActivityFeed({
    bus,
    log: silentLog,
    onEvent: (type, data) => metrics.event(type, data),
  });
  lifetime.own('the activity', feed);
  const egress = lifetime.own('egress', createEgress({ allow: [], isLoopbackAllowed: true }));
  const registry: AgentRegistry = new AgentRegistry({
    sql: database,
    bus,
    egress,
    activity: feed,
    log: silentLog,
    checkKeyProof: (_agentId, _publicKey, { response }) => response === '0x01',
    isAttested: options.isAttested ?? (() => false),
    now: options.now,
    heartbeatInterval: options.heartbeatInterval,
  });
  lifetime.own('the agents', registry);
  await registry.start();
  const { http, issuer, spans } = await createTestServer(contract);
  lifetime.defer('http', () => http.close(0));
  const revoked: (readonly [agentId: string, reason: string])[] = [];
  http.serve(contract, {
    ...agentHandlers({
      registry,
      metrics,
      revokeAll: async (...revocation) => void revoked.push(revocation),
      agentGone: async () => {},
    }),
    ...activityHandlers({
      metrics,
      health: () => ({ status: 'healthy', version: '1.0.0', uptime: 0 }),
      statuses: () => ({ grpc: 'healthy', registry: 'healthy', swarm: 'healthy', acap: 'healthy' }),
    }),
  });
  http.serveSockets(contract, activitySocketHandlers(feed));
  const url = await listenAnywhere(http);
  const callers = openCallers(url, issuer);
  return {
    url,
    registry,
    feed,
    metrics,
    spans,
    revoked,
    ...callers,
    call: callers.callAs('usr_owner'),
    [Symbol.asyncDispose]: () => lifetime[Symbol.asyncDispose](),
  };
}

/** Calls as whoever it may be, each with a token of its own. */
function openCallers(url: string, issuer: TestIssuer) {
  const tokens = new Map<string, Promise<string>>();
  const tokenOf = (subject: string, permissions: readonly string[] = ['mesh:communicate']) => {
    const token =
      tokens.get(subject) ?? issuer.sign({ sub: subject, permissions: [...permissions] });
    tokens.set(subject, token);
    return token;
  };
  const callAs =
    (subject: string, permissions?: readonly string[]) =>
    async (method: string, path: string, body?: unknown) => {
      const response = await fetch(url + path, {
        method,
        headers: {
          authorization: `Bearer ${await tokenOf(subject, permissions)}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      const answer: Answer = text.startsWith('{') ? JSON.parse(text) : text;
      return { status: response.status, headers: response.headers, body: answer };
    };
  return { tokenOf, callAs };
}
