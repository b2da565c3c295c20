import type { Secret } from '../../../kit/config.ts';
import type { Egress } from '../../../kit/egress/egress.ts';
import { Fault } from '../../../kit/errors.ts';
import type { ModelLibrary } from '../library.ts';
import { AllowList, allowedHostsDefault } from './allow-list.ts';
import type { Patience } from './download.ts';
import { fetchModel } from './fetched-model.ts';
import { Flight } from './flight.ts';
import { planHuggingFace } from './hugging-face.ts';
import { planOllama } from './ollama-registry.ts';
import { Places } from './places.ts';
import type { PullOrigins, PullPlan } from './plan.ts';
import type { Puller, PullProgress } from './puller.ts';
import { parseReference, type Reference } from './reference.ts';
import { PullWeb } from './web.ts';

export interface PullerOptions {
  readonly library: ModelLibrary;
  readonly egress: Egress;
  /** Hosts that models may come from, separated by commas; Hugging Face and Ollama when absent. */
  readonly allow?: string | undefined;
  /** For Hugging Face; sent nowhere else. */
  readonly token?: Secret | undefined;
  readonly huggingFaceUrl?: string | undefined;
  /** Of the registry, not of a runtime. */
  readonly ollamaRegistryUrl?: string | undefined;
  readonly patience?: Patience;
  /** Without a byte for so long, a connection counts as broken. */
  readonly stallMs?: number;
}

const parallelMax = 2;
const flightsMax = 16;
const patienceDefault: Patience = { attemptsMax: 6, delayMs: 1000 };
const stallMsDefault = 30_000;
const originsDefault: PullOrigins = {
  huggingFace: 'https://huggingface.co',
  ollama: 'https://registry.ollama.ai',
};

/** Makes the puller that downloads into a library. */
export function createPuller(options: PullerOptions): Puller {
  return new DownloadPuller(options);
}

class DownloadPuller implements Puller {
  readonly #options: PullerOptions;
  readonly #web: PullWeb;
  readonly #origins: PullOrigins;
  readonly #flights = new Map<string, Flight>();
  /** Of each name that is being fetched, the work that fetches it. */
  readonly #claims = new Map<string, Promise<void>>();
  readonly #places = new Places(parallelMax);

  constructor(options: PullerOptions) {
    const { egress, allow = allowedHostsDefault, stallMs = stallMsDefault } = options;
    this.#options = options;
    this.#origins = {
      huggingFace: options.huggingFaceUrl ?? originsDefault.huggingFace,
      ollama: options.ollamaRegistryUrl ?? originsDefault.ollama,
    };
    this.#web = new PullWeb({ egress, allowList: new AllowList(allow), stallMs });
  }

  async *pull(
    name: string,
    { signal }: { readonly signal: AbortSignal },
  ): AsyncGenerator<PullProgress> {
    const reference = parseReference(name);
    yield* this.#join(reference).watch(signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const flights = [...this.#flights.values()];
    for (const flight of flights) flight.abandon();
    await Promise.all(flights.map(({ done }) => done));
  }

  #join(reference: Reference): Flight {
    const { key } = reference;
    const running = this.#flights.get(key);
    if (running && !running.isAbandoned) return running;
    if (this.#flights.size >= flightsMax) {
      throw new Fault('exhausted', `${flightsMax} models are being pulled already`, {
        retryAfter: 60,
      });
    }
    const flight = new Flight((publish, signal) => this.#pull(reference, publish, signal));
    this.#flights.set(key, flight);
    flight.start(running?.done ?? Promise.resolve());
    void this.#forget(key, flight);
    return flight;
  }

  async #forget(key: string, flight: Flight): Promise<void> {
    await flight.done;
    if (this.#flights.get(key) === flight) this.#flights.delete(key);
  }

  async #pull(
    reference: Reference,
    publish: (progress: PullProgress) => void,
    signal: AbortSignal,
  ): Promise<void> {
    publish({ status: 'pulling manifest' });
    // Before the source is asked; the plan's name is looked at again.
    if (reference.name !== undefined) await this.#options.library.requireFree(reference.name);
    await this.#places.with(signal, async () => {
      const plan = await this.#plan(reference, signal);
      await this.#claim(plan.name, () => this.#fetch(plan, publish, signal));
    });
    publish({ status: 'success' });
  }

  #plan(reference: Reference, signal: AbortSignal): Promise<PullPlan> | PullPlan {
    const web = this.#web;
    if (reference.kind === 'ollama') {
      return planOllama(reference, { web, origin: this.#origins.ollama }, signal);
    }
    if (reference.kind === 'hugging-face') {
      const token = this.#options.token?.reveal();
      return planHuggingFace(reference, { web, origin: this.#origins.huggingFace, token }, signal);
    }
    const { name, urls, digest } = reference;
    const files = urls.map((url) => ({ url, digest, bytes: undefined, secretHeaders: {} }));
    return { name, files, licence: undefined };
  }

  #fetch(
    plan: PullPlan,
    publish: (progress: PullProgress) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const { library, patience = patienceDefault } = this.#options;
    return fetchModel(plan, { library, web: this.#web, patience, publish, signal });
  }

  /** Two references may mean the same file: one after the other, they find it installed. */
  async #claim(name: string, work: () => Promise<void>): Promise<void> {
    const key = name.toLowerCase();
    const before = this.#claims.get(key) ?? Promise.resolve();
    const own = before.catch(() => {}).then(work);
    this.#claims.set(key, own);
    try {
      await own;
    } finally {
      if (this.#claims.get(key) === own) this.#claims.delete(key);
    }
  }
}
