import { setMaxListeners } from 'node:events';
import { Fault } from '../../kit/errors.ts';
import { UnheardWritersWatch } from '../../kit/bus/unheard-writers.ts';
import { FreshReads } from '../../kit/identity/fresh-reads.ts';
import { Lifetime } from '../../kit/lifecycle.ts';
import type { Host } from '../../kit/service.ts';
import type { Topic } from '../../kit/bus/bus.ts';
import type { GatewayConfig } from '../config.ts';
import { providerTopic } from '../events.ts';
import { openConfigFile } from './config-file.ts';
import { defineProvider, type ProviderDefinition } from './definition.ts';
import { Discovery, type Credentials } from './discovery.ts';
import { definedByEnvironment } from './environment.ts';
import { Offers } from './offers.ts';
import { ProviderIndex } from './provider-index.ts';
import type { ProviderTables } from './provider-store.ts';
import type { Provider, ProviderList, Target } from './provider.ts';
import { badSetting, checkProviderName, readSettings } from './settings.ts';
import { StoredProviders } from './stored-providers.ts';

type ProvidersHost = Pick<
  Host<GatewayConfig>,
  'config' | 'egress' | 'database' | 'bus' | 'dataFolder' | 'log'
>;

export interface ProvidersOptions {
  readonly host: ProvidersHost;
  readonly credentials: Credentials;
  /** Between two looks at the database and at what providers offer; a minute unless told. */
  readonly refreshMs?: number;
  /** Whether others may put providers now of which the bus does not tell. */
  readonly hasUnheardWriters?: () => boolean;
}

interface ProviderChanged {
  readonly name: string;
}

const localName = 'local';
const minuteMs = 60_000;

/**
 * The providers there are: from the environment, the file and the API, the later before the earlier,
 * and the local one. Every change puts a new object in place of a provider, so that requests on
 * their way keep theirs.
 */
export class Providers implements ProviderList, AsyncDisposable {
  readonly #options: ProvidersOptions;
  readonly #stored: StoredProviders;
  readonly #offers: Offers;
  readonly #topic: Topic<ProviderChanged>;
  readonly #reads = new FreshReads(() => this.#readStored());
  readonly #lifetime: Lifetime;
  readonly #stopping = new AbortController();
  readonly #listeners = new Set<() => void>();
  readonly #environment: readonly ProviderDefinition[];
  #file: readonly ProviderDefinition[] = [];
  #api: readonly ProviderDefinition[] = [];
  #local: Provider | undefined;
  #hosted: readonly Provider[] = [];
  #index = new ProviderIndex([]);

  private constructor(options: ProvidersOptions) {
    const { config, egress, database, bus, dataFolder, log } = options.host;
    this.#options = options;
    const sql = database.kysely<ProviderTables>('gateway');
    this.#stored = new StoredProviders({ sql, dataFolder, log });
    this.#offers = new Offers(new Discovery({ egress, credentials: options.credentials, log }));
    this.#topic = bus.topic<ProviderChanged>(providerTopic);
    this.#lifetime = new Lifetime(log);
    // Every provider that is asked listens to it, and there may be any number.
    setMaxListeners(0, this.#stopping.signal);
    this.#environment = definedByEnvironment(config).filter((one) => this.#isCallable(one));
  }

  /**
   * Reads every source; what providers offer is asked for without waiting for it. Rejects with
   * `invalid` for a file that cannot be used, with `conflict` when the key file is missing that
   * stored keys are sealed with.
   */
  static async open(options: ProvidersOptions): Promise<Providers> {
    const providers = new Providers(options);
    try {
      await providers.#start();
    } catch (error) {
      await providers[Symbol.asyncDispose]();
      throw error;
    }
    return providers;
  }

  all(): readonly Provider[] {
    return this.#index.all();
  }

  find(name: string): Provider | undefined {
    return this.#index.find(name);
  }

  targetsOf(model: string): readonly Target[] {
    return this.#index.targetsOf(model);
  }

  /** Calls back after every change, until the returned function is called. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Puts the suite's own runtime in place; again whenever its models change. */
  setLocal(provider: Provider): void {
    this.#local = provider;
    this.#publishIndex();
  }

  /**
   * Stores a provider from the body of a request, on all replicas; says whether it is new to the
   * API. Throws `conflict` for the reserved name, `invalid` for what is not valid or not known, and
   * `forbidden` (`egress_blocked`) for an address that may not be called.
   */
  async put(name: string, body: unknown): Promise<{ provider: Provider; isNew: boolean }> {
    checkProviderName(name);
    if (name === localName) throw reserved();
    const settings = readSettings(body);
    this.#checkUrl(settings.baseUrl);
    const { baseUrl } = defineProvider(settings, { name, origin: 'api', keys: [] });
    const isNew = await this.#stored.put(name, { ...settings, baseUrl });
    await this.#changed(name);
    const definition = this.#api.find((one) => one.name === name);
    if (definition) await this.#discover([definition]);
    const provider = this.find(name);
    if (!provider) throw new Fault('conflict', 'the provider was deleted meanwhile');
    return { provider, isNew };
  }

  /** Deletes a provider of the API; one of the file or environment comes back in its place. */
  async delete(name: string): Promise<void> {
    if (name === localName) throw reserved();
    if (await this.#stored.delete(name)) return this.#changed(name);
    // Somebody else may have deleted it a moment ago.
    await this.#reads.now();
    const origin = this.find(name)?.origin;
    if (!origin || origin === 'api') throw providerNotFound(name);
    const where = origin === 'file' ? 'the configuration file' : 'the environment';
    throw new Fault('conflict', `the provider ${name} comes from ${where}: take it out there`, {
      reason: 'provider_not_deletable',
      detail: { param: 'name' },
    });
  }

  /** Reads what is stored and asks providers what they offer, now; never rejects. */
  async refresh(): Promise<void> {
    await this.#tryRead();
    await this.#discover(this.#effective());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    await this.#lifetime[Symbol.asyncDispose]();
  }

  async #start(): Promise<void> {
    const { host, refreshMs = minuteMs, hasUnheardWriters = () => false } = this.#options;
    const { configFile: path } = host.config;
    // Subscribed before the first reading, so that no change falls between.
    const reread = () => void this.#reread();
    const subscription = await this.#topic.subscribe(reread, { onGap: reread });
    this.#lifetime.defer('the subscription', () => subscription.close());
    if (path !== undefined) await this.#openFile(path);
    await this.#reads.now();
    void this.#discover(this.#effective());
    const timer = setInterval(() => void this.refresh(), refreshMs).unref();
    this.#lifetime.defer('the timer', () => clearInterval(timer));
    const watch = new UnheardWritersWatch(hasUnheardWriters, () => void this.#look());
    this.#lifetime.defer('the watch', () => watch[Symbol.dispose]());
  }

  async #openFile(path: string): Promise<void> {
    const { log } = this.#options.host;
    const checkUrl = (url: string) => this.#checkUrl(url);
    const changed = (definitions: readonly ProviderDefinition[]) => {
      this.#file = definitions;
      void this.#complete().then(() => this.#discover(definitions));
    };
    const file = await openConfigFile({ path, log, checkUrl, changed });
    this.#lifetime.own('the configuration file', file);
    this.#file = file.definitions;
  }

  #checkUrl(url: string): void {
    try {
      this.#options.host.egress.checkUrl(url);
    } catch (error) {
      if (error instanceof Fault && error.code === 'invalid') {
        throw badSetting('baseUrl', `is refused: ${error.message}`);
      }
      throw error;
    }
  }

  #isCallable({ name, baseUrl }: ProviderDefinition): boolean {
    try {
      this.#checkUrl(baseUrl);
      return true;
    } catch (error) {
      const reason = Fault.from(error).message;
      this.#options.host.log.error({ provider: name, reason }, 'a provider is left out');
      return false;
    }
  }

  async #reread(): Promise<void> {
    await this.#tryRead();
    await this.#discover(this.#offers.unknown(this.#effective()));
  }

  /** Takes over what others stored, and asks nobody but those who are new. */
  async #look(): Promise<void> {
    const known = new Set(this.#effective());
    await this.#tryRead();
    const changed = this.#effective().filter((one) => !known.has(one));
    const unknown = this.#offers.unknown(changed);
    if (unknown.length > 0) await this.#discover(unknown);
  }

  async #tryRead(): Promise<void> {
    await this.#reads.now().catch((error: unknown) => {
      this.#options.host.log.warn({ err: error }, 'the providers cannot be read again now');
    });
  }

  async #changed(name: string): Promise<void> {
    await this.#reads.now();
    await this.#topic.publish({ name }).catch((error: unknown) => {
      this.#options.host.log.warn({ err: error }, 'other replicas learn of a provider later');
    });
  }

  async #readStored(): Promise<void> {
    this.#api = await this.#stored.list();
    await this.#complete();
  }

  /** One for each name, the API's before the file's before the environment's. */
  #effective(): readonly ProviderDefinition[] {
    const all = [...this.#environment, ...this.#file, ...this.#api];
    return [...new Map(all.map((definition) => [definition.name, definition])).values()];
  }

  async #discover(definitions: readonly ProviderDefinition[]): Promise<void> {
    await this.#offers.discover(definitions, this.#stopping.signal);
    await this.#complete();
  }

  async #complete(): Promise<void> {
    await this.#offers.open(this.#effective());
    this.#hosted = this.#offers.complete(this.#effective());
    this.#publishIndex();
  }

  #publishIndex(): void {
    const providers = this.#local ? [this.#local, ...this.#hosted] : this.#hosted;
    const before = this.#index.all();
    const isSame = providers.every((provider, at) => provider === before[at]);
    if (isSame && providers.length === before.length) return;
    this.#index = new ProviderIndex(providers);
    for (const listener of this.#listeners) listener();
  }
}

function reserved(): Fault {
  return new Fault('conflict', "the provider local is the suite's own and cannot be changed", {
    reason: 'provider_reserved',
    detail: { param: 'name' },
  });
}

/** Refusal of a name that no provider has. */
export function providerNotFound(name: string): Fault {
  return new Fault('not_found', `there is no provider ${name}`, {
    reason: 'provider_not_found',
    detail: { param: 'name' },
  });
}
