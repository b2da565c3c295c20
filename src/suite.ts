import { resolve } from 'node:path';
import { addressBook, type AddressBook } from './addresses.ts';
import { Console } from './console/console.ts';
import { openGround, type Ground } from './ground.ts';
import { checkHealth } from './health.ts';
import { consoleName, openService } from './hosted-service.ts';
import type { Environment } from './kit/config.ts';
import { lockDataFolder } from './kit/database/data-folder.ts';
import { Lifetime } from './kit/lifecycle.ts';
import { createLog, type Log } from './kit/log.ts';
import type { Service } from './kit/service.ts';
import { requireFreePorts } from './ports.ts';
import { RunningServices } from './running-services.ts';
import { issuer, services, spanReceiver, startOrder } from './services.ts';
import { readConfiguration, type Configuration } from './settings.ts';

/** Loading leaves the event loop hardly a turn, so the database's thread has to be on its way before. */
const preloadAfterMs = 50;

export interface SuiteOptions {
  readonly environment: Environment;
  /** The services that this process hosts, in any order. */
  readonly hosted: readonly Service[];
  /** Also serve the console's address. */
  readonly hasConsole: boolean;
  /** Told what is being done, for a terminal. */
  readonly onProgress?: (step: string) => void;
  /** Ends a start that is under way: what is open already is closed. */
  readonly signal?: AbortSignal;
}

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
    await this.#lifetime[Symbol.asyncDispose]();
  }

  async #open(): Promise<void> {
    const { hasConsole } = this.#options;
    const { suite: config } = this.#config;
    const dataFolder = resolve(config.dataFolder);
    // Before the ports, which a suite that runs on the same folder holds as well.
    const lock = await lockDataFolder(dataFolder, {
      onWait: ({ pid, host }) => {
        this.#log.warn(
          { pid, host, dataFolder },
          'waiting to see whether who had the data folder lives',
        );
      },
      signal: this.#options.signal,
    });
    this.#lifetime.own('the data folder', lock);
    await requireFreePorts(config.host, this.addresses.portsHere(hasConsole));
    const opening = openGround({
      dataFolder,
      config,
      addresses: this.addresses,
      hosted: this.hosted,
      log: this.#log,
      lifetime: this.#lifetime,
      onProgress: (step) => this.#progress(step),
    });
    setTimeout(() => this.#preload(), preloadAfterMs);
    const ground = await opening;
    await this.#startServices(ground);
    if (hasConsole) await this.#startConsole(ground);
  }

  /** What fails to load fails again at its start. */
  #preload(): void {
    for (const service of this.hosted) service.load().catch(() => {});
  }

  async #startServices(ground: Ground): Promise<void> {
    const running = this.#lifetime.own('the services', this.#openRunning(ground));
    const others = this.hosted.filter((service) => service !== issuer);
    if (others.length < this.hosted.length) await this.#launch(issuer, running);
    await ground.trust.start();
    for (const service of others) await this.#launch(service, running);
  }

  #openRunning(ground: Ground): RunningServices {
    const running: RunningServices = new RunningServices({
      hosted: this.hosted,
      addresses: this.addresses,
      log: this.#log,
      open: (service) =>
        openService(service, {
          ground,
          config: this.#config,
          addresses: this.addresses,
          suite: running,
          log: this.#log,
          graceMs: () => running.graceMs(),
          announce: (line) => void this.announcements.push(line),
        }),
      onStarted: (service) => {
        if (service === spanReceiver) this.#resumeSpans(ground);
      },
      onStopping: async (service) => {
        if (service === spanReceiver) await ground.exporter.flush();
      },
    });
    return running;
  }

  async #launch(service: Service, running: RunningServices): Promise<void> {
    this.#options.signal?.throwIfAborted();
    this.#progress(`starting ${service.contract.name}`);
    await running.launch(service);
  }

  /** Spans that ended while nobody took them are gone; the log says how many. */
  #resumeSpans({ exporter }: Ground): void {
    exporter.resume();
    const { dropped } = exporter;
    if (dropped > 0) this.#log.info({ dropped }, 'spans were dropped while nobody took them');
  }

  async #startConsole({ trust }: Ground): Promise<void> {
    const { addresses } = this;
    const opening = Console.open({
      services: services.map(({ contract: { name } }) => ({ name, url: addresses.urlOf(name) })),
      checkHealth: () => checkHealth(addresses),
      ownToken: trust.serviceToken(consoleName),
    });
    const console = this.#lifetime.own('the console', await opening);
    await console.listen(this.#config.suite.host, addresses.consolePort);
  }

  #progress(step: string): void {
    this.#options.onProgress?.(step);
  }
}
