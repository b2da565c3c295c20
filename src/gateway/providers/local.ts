import type { Client } from '../../kit/client.ts';
import type { Log } from '../../kit/log.ts';
import type { Host } from '../../kit/service.ts';
import { modelsContract } from '../../models/contract.ts';
import { freePrices } from '../../kit/prices/prices.ts';
import { qualityOf } from '../catalogue/quality.ts';
import { failureOfCall, type Probe } from '../measure/probes.ts';
import type { Capability, Model, Provider, ProviderKey } from './provider.ts';

/** Its name, which no other provider can take. */
export const localName = 'local';

const refreshMs = 5_000;
/** While it is away, or still has to find out what it has. */
const soonMs = 500;
const againMs = 1_000;
/** Asked every few seconds, so it leaves no trace. */
const polling = { timeoutMs: 5_000, trace: 'none' } as const;
const contextWindowDefault = 4_096;
const timeouts = { firstTokenMs: 120_000, idleMs: 60_000, totalMs: 600_000 };
/** The models in the box are for a first try; of others the name tells, if it is known. */
const builtInQuality = 0.05;

type ListedModel = Awaited<ReturnType<Client<typeof modelsContract>['listModels']>>['data'][number];

/** The suite's own models service as a provider: always there, and free of charge. */
export class LocalModels implements AsyncDisposable {
  readonly #client: Client<typeof modelsContract>;
  readonly #log: Log;
  readonly #base: Omit<Provider, 'models'>;
  readonly #onChange: (provider: Provider) => void;
  #provider: Provider;
  #known = '';
  #askedAt = Number.NEGATIVE_INFINITY;
  #isAway = false;
  #isClosed = false;
  #timer: NodeJS.Timeout | undefined;
  #probe: Probe | undefined;
  #refreshing: Promise<void> | undefined;

  constructor(host: Host<unknown>, onChange: (provider: Provider) => void) {
    this.#client = host.client(modelsContract);
    this.#log = host.log;
    this.#onChange = onChange;
    const url = host.peers.find(({ name }) => name === modelsContract.name)?.url ?? '';
    this.#base = {
      name: localName,
      dialect: 'openai',
      baseUrl: `${url}/v1`,
      keys: [ownKey(host)],
      weight: 1,
      priority: 0,
      timeouts,
      origin: 'local',
      headers: {},
    };
    this.#provider = { ...this.#base, models: new Map() };
  }

  /** Where the runtime answers. */
  get url(): string {
    return this.#base.baseUrl;
  }

  /** How it answered last. */
  get probe(): Probe | undefined {
    return this.#probe;
  }

  /** Shows what it has, now and whenever that changes. */
  start(): void {
    this.#onChange(this.#provider);
    void this.#refreshOn();
  }

  /** Asks again for somebody who misses a model; undefined when it answered within the last second. */
  lookAgain(): Promise<void> | undefined {
    const isUnknown = this.#isAway || this.#provider.models.size === 0;
    const isNew = !isUnknown && performance.now() - this.#askedAt < againMs;
    return isNew ? undefined : this.refresh();
  }

  /** Asks for the models; those who ask at the same time share one question. Never rejects. */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#refreshing;
  }

  async #refreshOn(): Promise<void> {
    await this.refresh();
    if (this.#isClosed) return;
    const isReady = !this.#isAway && this.#provider.models.size > 0;
    this.#timer = setTimeout(() => void this.#refreshOn(), isReady ? refreshMs : soonMs).unref();
  }

  async #refresh(): Promise<void> {
    const startedAt = performance.now();
    this.#askedAt = startedAt;
    try {
      const { data } = await this.#client.listModels({}, polling);
      this.#probe = { latencyMs: performance.now() - startedAt };
      this.#isAway = false;
      if (this.#isNew(data)) this.#show(data, await this.#sizes());
    } catch (error) {
      // Its models stay: a request that cannot be answered says so itself.
      if (!this.#isAway) this.#log.warn({ err: error }, 'the local models could not be listed');
      this.#isAway = true;
      this.#probe = { failure: failureOfCall(error) };
    }
  }

  #isNew(listed: readonly ListedModel[]): boolean {
    const known = JSON.stringify(listed);
    if (known === this.#known) return false;
    this.#known = known;
    return true;
  }

  #show(listed: readonly ListedModel[], sizes: ReadonlyMap<string, number>): void {
    const models = listed.map((model) => [model.id, toModel(model, sizes.get(model.id))] as const);
    this.#provider = { ...this.#base, models: new Map(models) };
    this.#onChange(this.#provider);
  }

  /** Bytes by the model; only Ollama's API tells them. */
  async #sizes(): Promise<ReadonlyMap<string, number>> {
    const { models } = await this.#client.ollamaTags({}, polling);
    return new Map(models.map(({ name, size }) => [name.replace(/:latest$/, ''), size]));
  }
}

/** The suite's own token, which changes with time. */
function ownKey({ ownToken }: Host<unknown>): ProviderKey {
  return { id: 'suite', reveal: ownToken.get, refused: () => ownToken.forget() };
}

const capabilitiesOf: Readonly<Record<string, readonly Capability[]>> = {
  completion: ['chat', 'code', 'summarization'],
  tools: ['tools'],
  json: ['json'],
  embedding: ['embedding'],
};

function toModel(listed: ListedModel, sizeBytes: number | undefined): Model {
  const { id, created, capabilities, context_length } = listed;
  return {
    name: id,
    capabilities: new Set(capabilities.flatMap((name) => capabilitiesOf[name] ?? [])),
    prices: freePrices,
    quality: id.startsWith('ennead-') ? builtInQuality : qualityOf(id),
    contextWindow: context_length ?? contextWindowDefault,
    createdAt: created,
    sizeBytes,
  };
}
