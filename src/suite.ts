import { addressBook, type AddressBook } from './addresses.ts';
import { openGround, type Ground } from './ground.ts';
import { createClient } from './kit/client.ts';
import type { Environment } from './kit/config.ts';
import type { Contract } from './kit/contract.ts';
import { HttpServer } from './kit/http/server.ts';
import { Lifetime } from './kit/lifecycle.ts';
import { createLog, type Log } from './kit/log.ts';
import { RateLimiter } from './kit/rate-limit.ts';
import type { Host, Peer, Service } from './kit/service.ts';
import { Tracer } from './kit/trace.ts';
import { requireFreePorts } from './ports.ts';
import { issuer, services, spanReceiver, startOrder } from './services.ts';
import { readConfiguration, type Configuration } from './settings.ts';
import { StatusPage } from './status-page.ts';

export interface SuiteOptions {
  readonly environment: Environment;
  /** The services that this process hosts, in any order. */
  readonly hosted: readonly Service[];
  /** Also serve the console's address. */
  readonly hasConsole: boolean;
  /** Told what is being done, for a terminal. */
  readonly onProgress?: (step: string) => void;
}

const closeGraceMs = 5_000;

/**
 * One process of the suite: its ground and the services that it hosts. Opens them in order and closes
 * them in reverse, each before those that it calls; a failure half-way closes what was open.
 */
export class Suite implements AsyncDisposable {
  /** What services had to say to the operator when they started. */
  readonly announcements: string[] = [];
  readonly addresses: AddressBook;
  /** In the order in which they start. */
  readonly hosted: readonly Service[];
  readonly #options: SuiteOptions;
  readonly #config: Configuration;
  readonly #log: Log;
  readonly #lifetime: Lifetime;
  /** When running requests are aborted, once the process stops; Unix milliseconds. */
  #abortAt = 0;

  private constructor(options: SuiteOptions, config: Configuration) {
    this.#options = options;
    this.#config = config;
    this.hosted = startOrder.filter((service) => options.hosted.includes(service));
    this.#log = createLog({ level: config.suite.logLevel, isPretty: process.stderr.isTTY });
    this.#lifetime = new Lifetime(this.#log);
    this.addresses = addressBook(config, options.hosted);
  }

  /** Opens a process of the suite; rejects with a Fault whose message says what to do. */
  static async open(options: SuiteOptions): Promise<Suite> {
    const suite = new Suite(options, readConfiguration(options.environment, options.hosted));
    try {
      await suite.#open();
      return suite;
    } catch (error) {
      await suite[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Lets running requests finish for five seconds in all, then aborts them; closes everything. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#abortAt = Date.now() + closeGraceMs;
    await this.#lifetime[Symbol.asyncDispose]();
  }

  async #open(): Promise<void> {
    const { hasConsole } = this.#options;
    const { suite: config } = this.#config;
    await requireFreePorts(config.host, this.addresses.portsHere(hasConsole));
    const ground = await openGround({
      config,
      addresses: this.addresses,
      hosted: this.hosted,
      log: this.#log,
      lifetime: this.#lifetime,
      onProgress: (step) => this.#progress(step),
    });
    await this.#startServices(ground);
    if (hasConsole) await this.#startConsole();
  }

  async #startServices(ground: Ground): Promise<void> {
    const others = this.hosted.filter((service) => service !== issuer);
    if (others.length < this.hosted.length) await this.#startService(issuer, ground);
    await ground.trust.start();
    for (const service of others) {
      await this.#startService(service, ground);
      if (service === spanReceiver) this.#lifetime.defer('spans', () => ground.exporter.flush());
    }
  }

  async #startService(service: Service, ground: Ground): Promise<void> {
    const { contract, envelope } = service;
    this.#progress(`starting ${contract.name}`);
    const log = this.#log.child({ service: contract.name });
    const tracer = new Tracer(ground.exporter.sink(resourceOf(contract)));
    const { authenticator } = ground.trust;
    const limiter = new RateLimiter(this.#config.rateOf(contract.name));
    const http = new HttpServer({ contract, envelope, authenticator, limiter, tracer, log });
    const host = this.#hostOf(service, { ...ground, http, tracer, log });
    this.#lifetime.own(contract.name, await service.start(host));
    this.#lifetime.defer(`the server of ${contract.name}`, () =>
      http.close(Math.max(0, this.#abortAt - Date.now())),
    );
    await http.listen(this.#config.suite.host, this.addresses.portOf(contract.name));
  }

  #hostOf(service: Service, parts: HostParts): Host<never> {
    const { name, version } = service.contract;
    const { trust, exporter: _, ...shared } = parts;
    const startedAt = performance.now();
    return {
      ...shared,
      // The settings were read by the service's own declaration.
      config: this.#config.ownOf(name) as never,
      url: this.addresses.urlOf(name),
      peers: this.#peers(),
      address: this.#config.suite.host,
      ports: this.addresses.furtherPortsOf(service),
      authenticator: trust.authenticator,
      revocations: trust.revocations,
      ownToken: trust.serviceToken(name),
      client: (contract) => this.#clientOf(contract, { ...parts, name }),
      health: () => ({
        status: 'healthy',
        version,
        uptime: Math.floor((performance.now() - startedAt) / 1000),
      }),
      announce: (line) => void this.announcements.push(line),
    };
  }

  #clientOf<C extends Contract>(contract: C, caller: HostParts & { readonly name: string }) {
    const token = caller.trust.serviceToken(caller.name);
    return createClient(contract, {
      baseUrl: this.addresses.urlOf(contract.name),
      token: token.get,
      forgetToken: () => token.forget(),
      tracer: caller.tracer,
    });
  }

  #peers(): Peer[] {
    return services.map(({ contract, grants }) => ({
      name: contract.name,
      url: this.addresses.urlOf(contract.name),
      grants,
    }));
  }

  async #startConsole(): Promise<void> {
    const page = new StatusPage(this.addresses);
    this.#lifetime.own('the status page', page);
    await page.listen(this.#config.suite.host, this.addresses.consolePort);
  }

  #progress(step: string): void {
    this.#options.onProgress?.(step);
  }
}

interface HostParts extends Ground {
  readonly http: HttpServer;
  readonly tracer: Tracer;
  readonly log: Log;
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
