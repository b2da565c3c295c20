import { resolve } from 'node:path';
import { openBus, type Bus } from './kit/bus/bus.ts';
import { createClient } from './kit/client.ts';
import type { Environment } from './kit/config.ts';
import type { Contract } from './kit/contract.ts';
import { lockDataFolder } from './kit/database/data-folder.ts';
import { openDatabase, type Database } from './kit/database/database.ts';
import { HttpServer } from './kit/http/server.ts';
import { Lifetime } from './kit/lifecycle.ts';
import { createLog, type Log } from './kit/log.ts';
import { RateLimiter } from './kit/rate-limit.ts';
import type { Host, Peer, Service } from './kit/service.ts';
import { Tracer } from './kit/trace.ts';
import { SpanExporter } from './kit/trace-export.ts';
import { addressBook, type AddressBook } from './addresses.ts';
import { requireFreePorts } from './ports.ts';
import { issuer, services, spanReceiver } from './services.ts';
import { readConfiguration, type Configuration } from './settings.ts';
import { StatusPage } from './status-page.ts';
import { Trust } from './trust.ts';

export interface SuiteOptions {
  readonly environment: Environment;
  /** The services that this process hosts, in any order. */
  readonly hosted: readonly Service[];
  /** Also serve the console's address. */
  readonly hasConsole: boolean;
  /** Told what is being done, for a terminal. */
  readonly onProgress?: (step: string) => void;
  readonly log?: Log;
}

const closeGraceMs = 5_000;

/**
 * One process of the suite: the database, the bus and the services that it hosts. Opens them in order,
 * auth first, and closes them in reverse; a failure half-way closes what was open.
 */
export class Suite implements AsyncDisposable {
  /** What services had to say to the operator when they started. */
  readonly announcements: string[] = [];
  readonly addresses: AddressBook;
  readonly hosted: readonly Service[];
  readonly #options: SuiteOptions;
  readonly #config: Configuration;
  readonly #log: Log;
  readonly #lifetime: Lifetime;
  readonly #servers: HttpServer[] = [];

  private constructor(options: SuiteOptions, config: Configuration) {
    this.#options = options;
    this.#config = config;
    this.hosted = options.hosted.toSorted((a, b) => rank(a) - rank(b));
    this.#log =
      options.log ?? createLog({ level: config.suite.logLevel, isPretty: process.stderr.isTTY });
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
      await suite.#lifetime[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Stops accepting, lets running requests finish for five seconds, then closes everything. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.close(closeGraceMs)));
    await this.#lifetime[Symbol.asyncDispose]();
  }

  async #open(): Promise<void> {
    const { suite } = this.#config;
    const dataFolder = resolve(suite.dataFolder);
    await requireFreePorts(suite.host, this.addresses.portsHere(this.#options.hasConsole));
    this.#lifetime.own('the data folder', await lockDataFolder(dataFolder));
    this.#progress('opening the database');
    const database = await this.#openDatabase(dataFolder);
    const bus = this.#lifetime.own(
      'the bus',
      await openBus({ log: this.#log, ...(suite.natsUrl ? { url: suite.natsUrl.reveal() } : {}) }),
    );
    await this.#startServices({ dataFolder, database, bus });
    if (this.#options.hasConsole) await this.#startConsole();
  }

  async #openDatabase(dataFolder: string): Promise<Database> {
    const url = this.#config.suite.databaseUrl?.reveal();
    const where = url ? { url } : { folder: resolve(dataFolder, 'postgres') };
    const database = this.#lifetime.own(
      'the database',
      await openDatabase({ ...where, log: this.#log }),
    );
    this.#progress('migrating');
    await migrate(database, this.hosted);
    return database;
  }

  async #startServices(ground: Ground): Promise<void> {
    const trust = this.#lifetime.own('trust', this.#createTrust(ground));
    const exporter = this.#lifetime.own('the span exporter', this.#createExporter(trust));
    const shared = { ...ground, trust, exporter };
    const [first, ...rest] = this.hosted;
    if (first === issuer) await this.#startService(issuer, shared);
    await trust.start();
    for (const service of first === issuer ? rest : this.hosted) {
      await this.#startService(service, shared);
    }
  }

  async #startService(service: Service, shared: Shared): Promise<void> {
    const { contract } = service;
    this.#progress(`starting ${contract.name}`);
    const log = this.#log.child({ service: contract.name });
    const tracer = new Tracer(shared.exporter.sink(resourceOf(contract)));
    const http = new HttpServer({
      contract,
      envelope: service.envelope,
      authenticator: shared.trust.authenticator,
      limiter: new RateLimiter(this.#config.rateOf(contract.name)),
      tracer,
      log,
    });
    const host = this.#hostOf(service, { ...shared, log, tracer, http });
    this.#lifetime.own(contract.name, await service.start(host));
    this.#servers.push(http);
    await http.listen(this.#config.suite.host, this.addresses.portOf(contract.name));
  }

  #hostOf(service: Service, parts: HostParts): Host<never> {
    const { name, version } = service.contract;
    const { trust, dataFolder, database, bus, http, tracer, log } = parts;
    const startedAt = performance.now();
    const token = trust.serviceToken(name);
    return {
      config: this.#config.ownOf(name) as never,
      url: this.addresses.urlOf(name),
      peers: this.#peers(),
      serviceKeysFolder: this.#serviceKeysFolder(dataFolder),
      revocations: trust.revocations,
      dataFolder,
      database,
      bus,
      http,
      tracer,
      log,
      client: (contract) =>
        createClient(contract, {
          baseUrl: this.addresses.urlOf(contract.name),
          token: token.get,
          forgetToken: () => token.forget(),
          tracer,
        }),
      health: () => ({
        status: 'healthy',
        version,
        uptime: Math.floor((performance.now() - startedAt) / 1000),
      }),
      announce: (line) => void this.announcements.push(line),
    };
  }

  #peers(): Peer[] {
    return services.map(({ contract, grants }) => ({
      name: contract.name,
      url: this.addresses.urlOf(contract.name),
      grants,
    }));
  }

  #createTrust({ dataFolder, bus }: Ground): Trust {
    return new Trust({
      issuerUrl: this.addresses.urlOf(issuer.contract.name),
      isIssuerHere: this.hosted.includes(issuer),
      serviceKeysFolder: this.#serviceKeysFolder(dataFolder),
      reader: this.hosted[0]?.contract.name ?? issuer.contract.name,
      log: this.#log,
      bus,
    });
  }

  #createExporter(trust: Trust): SpanExporter {
    const reader = this.hosted[0]?.contract.name ?? issuer.contract.name;
    return new SpanExporter({
      url: this.addresses.urlOf(spanReceiver.contract.name),
      token: trust.serviceToken(reader).get,
    });
  }

  async #startConsole(): Promise<void> {
    const page = new StatusPage(this.addresses);
    await page.listen(this.#config.suite.host, this.addresses.consolePort);
    this.#lifetime.own('the status page', page);
  }

  #serviceKeysFolder(dataFolder: string): string {
    return resolve(this.#config.suite.serviceKeysFolder ?? resolve(dataFolder, 'service-keys'));
  }

  #progress(step: string): void {
    this.#options.onProgress?.(step);
  }
}

/** What stands before any service does. */
interface Ground {
  readonly dataFolder: string;
  readonly database: Database;
  readonly bus: Bus;
}

interface Shared extends Ground {
  readonly trust: Trust;
  readonly exporter: SpanExporter;
}

interface HostParts extends Shared {
  readonly http: HttpServer;
  readonly tracer: Tracer;
  readonly log: Log;
}

/** Applies the migrations of services; answers what was newly applied, `<service>/<file>`. */
export async function migrate(
  database: Database,
  hosted: readonly Service[],
): Promise<readonly string[]> {
  const applied: string[] = [];
  for (const { contract, migrations } of hosted) {
    if (!migrations) continue;
    const names = await database.migrate(contract.name, migrations);
    applied.push(...names.map((name) => `${contract.name}/${name}`));
  }
  return applied;
}

/** Auth first, then the order of the ports. */
function rank(service: Service): number {
  return service === issuer ? -1 : services.indexOf(service);
}

function resourceOf({ name, version }: Contract) {
  return {
    'service.name': name,
    'service.namespace': 'ennead',
    'service.version': version,
    'service.instance.id': String(process.pid),
  };
}
