import type { AddressBook } from './addresses.ts';
import type { Ground } from './ground.ts';
import { createClient } from './kit/client.ts';
import type { Contract } from './kit/contract.ts';
import { HttpServer } from './kit/http/server.ts';
import { Lifetime } from './kit/lifecycle.ts';
import type { Log } from './kit/log.ts';
import { RateLimiter } from './kit/rate-limit.ts';
import type { Host, Peer, Service, SuiteControl } from './kit/service.ts';
import { Tracer } from './kit/trace/trace.ts';
import { issuer, services } from './services.ts';
import type { Configuration } from './settings.ts';

/** What a process gives to each service that it hosts. */
export interface HostingProcess {
  readonly ground: Ground;
  readonly config: Configuration;
  readonly addresses: AddressBook;
  readonly suite: SuiteControl;
  readonly log: Log;
  /** Milliseconds that running requests still have when a service is closed now. */
  readonly graceMs: () => number;
  readonly announce: (line: string) => void;
}

/**
 * Starts a service and listens on its port; disposing it stops accepting, lets running requests finish
 * and ends the service. A start that fails leaves nothing open.
 */
export async function openService(
  service: Service,
  hosting: HostingProcess,
): Promise<AsyncDisposable> {
  const { contract } = service;
  const { log, config, addresses, graceMs } = hosting;
  const lifetime = new Lifetime(log);
  const parts = createParts(service, hosting);
  const { http } = parts;
  try {
    const program = await service.load();
    lifetime.own(contract.name, await program.start(hostOf(service, hosting, parts)));
    lifetime.defer(`the server of ${contract.name}`, () => http.close(graceMs()));
    await http.listen(config.suite.host, addresses.portOf(contract.name));
    return lifetime;
  } catch (error) {
    await lifetime[Symbol.asyncDispose]();
    throw error;
  }
}

interface ServiceParts {
  readonly http: HttpServer;
  readonly limiter: RateLimiter;
  readonly tracer: Tracer;
  readonly log: Log;
}

function createParts({ contract, envelope }: Service, hosting: HostingProcess): ServiceParts {
  const { ground, config } = hosting;
  const log = hosting.log.child({ service: contract.name });
  const tracer = new Tracer(ground.exporter.sink(resourceOf(contract)));
  const { authenticator } = ground.trust;
  const limiter = new RateLimiter(config.rateOf(contract.name));
  return {
    http: new HttpServer({ contract, envelope, authenticator, limiter, tracer, log }),
    limiter,
    tracer,
    log,
  };
}

function hostOf(service: Service, hosting: HostingProcess, parts: ServiceParts): Host<never> {
  const { name, version } = service.contract;
  const { addresses, config, suite, graceMs, announce } = hosting;
  const { trust, exporter: _, ...shared } = hosting.ground;
  const startedAt = performance.now();
  return {
    ...shared,
    ...parts,
    // The settings were read by the service's own declaration.
    config: config.ownOf(name) as never,
    url: addresses.urlOf(name),
    peers: peersOf(service, addresses),
    address: config.suite.host,
    ports: addresses.furtherPortsOf(service),
    rate: config.rateOf(name),
    authenticator: trust.authenticator,
    revocations: trust.revocations,
    serveKeys: (find) => trust.serveKeys(find),
    ownToken: trust.serviceToken(name),
    client: (contract) => clientOf(contract, { name, hosting, tracer: parts.tracer }),
    graceMs,
    suite,
    health: () => ({
      status: 'healthy',
      version,
      uptime: Math.floor((performance.now() - startedAt) / 1000),
    }),
    announce,
  };
}

interface ClientCaller {
  readonly name: string;
  readonly hosting: HostingProcess;
  readonly tracer: Tracer;
}

function clientOf<C extends Contract>(contract: C, { name, hosting, tracer }: ClientCaller) {
  const token = hosting.ground.trust.serviceToken(name);
  return createClient(contract, {
    baseUrl: hosting.addresses.urlOf(contract.name),
    token: token.get,
    forgetToken: () => token.forget(),
    tracer,
  });
}

/** The console's name as one that has an identity at auth, though it is no service. */
export const consoleName = 'console';

function peersOf(service: Service, addresses: AddressBook): Peer[] {
  const peers = services.map(({ contract, grants }) => ({
    name: contract.name,
    url: addresses.urlOf(contract.name),
    grants,
  }));
  if (service !== issuer) return peers;
  return [...peers, { name: consoleName, url: addresses.consoleUrl, grants: [] }];
}

/** OpenTelemetry's resource attributes of a service. */
function resourceOf({ name, version }: Contract) {
  return {
    'service.name': name,
    'service.namespace': 'ennead',
    'service.version': version,
    'service.instance.id': String(process.pid),
  };
}
