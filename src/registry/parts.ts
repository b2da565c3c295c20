import { join } from 'node:path';
import { processEnvironment } from '../kit/config.ts';
import { openTogether, type Lifetime } from '../kit/lifecycle.ts';
import { openSealer } from '../kit/secrets/sealing.ts';
import type { Host } from '../kit/service.ts';
import { Catalog } from './aggregate/catalog.ts';
import { Doors } from './aggregate/doors.ts';
import { Errands } from './aggregate/errands.ts';
import { VirtualServers } from './aggregate/virtual-servers.ts';
import { hasAuthorizations } from './authorization/authorization-store.ts';
import { Authorizations } from './authorization/authorizations.ts';
import { Balancer } from './balancing/balancer.ts';
import { Discovery } from './balancing/discovery.ts';
import { LoadReporter } from './balancing/load-report.ts';
import { Statistics } from './balancing/statistics.ts';
import { Calls } from './calls/calls.ts';
import { chooseBy } from './calls/choosing.ts';
import { Exchanges } from './calls/exchange.ts';
import type { RegistryConfig } from './config.ts';
import { hasSecrets } from './connections/connection-store.ts';
import { Connections } from './connections/connections.ts';
import { checkedRegistrar } from './exchange/checked-registrar.ts';
import { CmsSyncs } from './exchange/cms/cms-sync.ts';
import { RegistryHealth } from './health/health.ts';
import { createDial } from './links/dialling.ts';
import { Learning } from './links/learning.ts';
import { LinkPool } from './links/pool.ts';
import { MeteredTraffic, RegistryMetrics } from './metrics/registry-metrics.ts';
import { checkGivenVariables } from './processes/environment.ts';
import { openProcesses } from './processes/processes.ts';
import { EventFeed } from './stream/event-feed.ts';
import { TrafficLedger } from './traffic/ledger.ts';

/** The service's parts, put together; disposing them ends what they do. */
export type RegistryParts = AsyncDisposable & Awaited<ReturnType<typeof open>>;

/** Opens everything; rejects when the database, the bus or a setting does not allow it. */
export function openParts(host: Host<RegistryConfig>): Promise<RegistryParts> {
  return openTogether(host.log, (lifetime) => open(host, lifetime));
}

async function open(host: Host<RegistryConfig>, lifetime: Lifetime) {
  const base = await openConnections(host, lifetime);
  const reach = await openLinks(host, lifetime, base);
  const watch = await openHealth(host, lifetime, { ...base, ...reach });
  const calls = await openCalls(host, lifetime, { ...base, ...reach, ...watch });
  const registrar = checkedRegistrar(base.connections);
  const syncs = lifetime.own(
    'the synchronisations',
    new CmsSyncs({
      sql: host.database,
      egress: host.egress,
      directory: base.connections.directory,
      registrar,
      allowList: host.config.cmsAllow ?? '',
      log: host.log,
    }),
  );
  return { host, ...base, ...reach, ...watch, ...calls, registrar, syncs };
}

/** Connections, what happens to them and what goes through them. */
async function openConnections(host: Host<RegistryConfig>, lifetime: Lifetime) {
  const { database: sql, bus, egress, config, dataFolder, log } = host;
  const events = lifetime.own('the events', new EventFeed({ bus, log }));
  const isSealed = (await hasSecrets(sql)) || (await hasAuthorizations(sql));
  const folder = join(dataFolder, 'secrets');
  const sealer = await openSealer({ folder, mayCreate: !isSealed });
  // Whoever checks begins after the connections, and is told of new ones.
  const checks: { soon: (id: string) => void } = { soon: () => {} };
  const connections = lifetime.own(
    'the connections',
    new Connections({
      sql,
      bus,
      egress,
      sealer,
      events,
      log,
      checkVariables: checkGivenVariables,
      checkSoon: (id) => checks.soon(id),
      connectionsMax: config.connectionsMax,
      idleAfterSeconds: config.idleAfterSeconds,
    }),
  );
  await connections.start();
  const ledger = lifetime.own('the traffic', new TrafficLedger({ sql, bus, log }));
  await ledger.start();
  return { events, sealer, connections, ledger, checks };
}

type Base = Awaited<ReturnType<typeof openConnections>>;

/** The ways to servers: processes, links, and what is learned over them. */
async function openLinks(
  host: Host<RegistryConfig>,
  lifetime: Lifetime,
  { connections, events, sealer, checks }: Base,
) {
  const { database: sql, bus, egress, config, dataFolder, log, url } = host;
  const { directory, notes } = connections;
  const environment = processEnvironment();
  const { supervision } = await openProcesses({ config, dataFolder, environment, log });
  lifetime.own('the processes', supervision);
  const stopForgetting = directory.onChange(({ before, after }) => {
    if (after.protocol !== 'stdio' || after.status !== 'disconnected') return;
    if (before?.status === 'disconnected') return;
    supervision.forget(after.id).catch((err: unknown) => {
      log.warn({ err, connectionId: after.id }, 'what a process left could not be removed');
    });
  });
  lifetime.defer('the end of processes', stopForgetting);
  const authorizations: Authorizations = lifetime.own(
    'the authorizations',
    new Authorizations({
      sql,
      bus,
      sealer,
      egress,
      directory,
      url,
      onChanged: (id) => {
        links
          .forget(id)
          .then(() => checks.soon(id))
          .catch((err: unknown) => log.warn({ err, connectionId: id }, 'a link did not close'));
      },
      log,
    }),
  );
  const dial = createDial({
    egress,
    spawn: (order, options) => supervision.spawn(order, options),
    credentialsOf: (id, resource) => authorizations.credentialsOf(id, resource),
    version: host.health().version,
  });
  const links = lifetime.own(
    'the links',
    new LinkPool({ directory, dial, idleSeconds: config.linkIdleSeconds }),
  );
  await authorizations.start();
  const { relearnSeconds, quarantine } = config;
  const isQuarantineOn = quarantine === 'on';
  const told = { links, directory, notes, events, log };
  const learning = new Learning({ ...told, isQuarantineOn, relearnSeconds });
  learning.start();
  lifetime.defer('the learning', () => learning[Symbol.dispose]());
  return { supervision, authorizations, links, learning };
}

type Reach = Awaited<ReturnType<typeof openLinks>>;

/** What is found out of connections, and how the registry does. */
async function openHealth(
  host: Host<RegistryConfig>,
  lifetime: Lifetime,
  { connections, events, ledger, checks, supervision, links, learning }: Base & Reach,
) {
  const { database, config, log } = host;
  const { directory, notes } = connections;
  const metrics: RegistryMetrics = new RegistryMetrics({
    connections: () => directory.all(),
    children: () => supervision.size,
    sessions: () => links.size,
    isChecking: () => health.isChecking,
  });
  const health: RegistryHealth = lifetime.own(
    'the health of connections',
    new RegistryHealth({
      database,
      directory,
      notes,
      links,
      events,
      log,
      concurrency: config.healthConcurrency,
      learn: (id, { isAsked, ...options }) =>
        isAsked ? learning.learn(id, options) : learning.ensure(id, options),
      onChecked: (outcome, seconds) => metrics.checked(outcome, seconds),
    }),
  );
  await health.start();
  checks.soon = (id) => health.checkSoon(id);
  const traffic = new MeteredTraffic(ledger, metrics, directory);
  return { metrics, health, traffic };
}

type Watch = Awaited<ReturnType<typeof openHealth>>;

/** Who is asked, and the doors through which everything is asked. */
async function openCalls(
  host: Host<RegistryConfig>,
  lifetime: Lifetime,
  { connections, events, ledger, links, learning, health, traffic }: Base & Reach & Watch,
) {
  const { database: sql, bus, tracer, log, url } = host;
  const { directory, notes } = connections;
  const balancer = new Balancer({ directory, ledger });
  lifetime.defer('the balancer', () => balancer[Symbol.dispose]());
  const exchanges = new Exchanges({
    directory,
    notes,
    links,
    learning,
    traffic,
    health,
    events,
    tracer,
  });
  const calls = new Calls({ exchanges, learning, choose: chooseBy(balancer), events });
  const catalog = new Catalog(directory);
  lifetime.defer('the catalog', () => catalog[Symbol.dispose]());
  const virtualServers = lifetime.own(
    'the virtual servers',
    new VirtualServers({ sql, bus, catalog, log }),
  );
  await virtualServers.start();
  const { version } = host.health();
  const errands = new Errands(exchanges);
  const doors = lifetime.own(
    'the doors',
    new Doors({ catalog, directory, virtualServers, errands, url, version, log }),
  );
  return {
    discovery: new Discovery({ balancer, events }),
    statistics: new Statistics({ directory, ledger, balancer }),
    loads: new LoadReporter(balancer),
    calls,
    virtualServers,
    doors,
  };
}
