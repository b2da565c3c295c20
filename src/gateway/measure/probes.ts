import { setMaxListeners } from 'node:events';
import type { Egress } from '../../kit/egress/egress.ts';
import { Fault } from '../../kit/errors.ts';
import type { Dialect } from '../dialects/dialect.ts';
import type { FailureKind } from '../dialects/failure.ts';
import { kindOfStatus } from '../dialects/status-kinds.ts';
import type { Provider, ProviderList } from '../providers/provider.ts';
import type { Stations } from './stations.ts';

/** What a provider said when it was asked for its models. */
export interface Probe {
  /** Milliseconds to its answer; absent when there was none. */
  readonly latencyMs?: number;
  /** Absent when it answered well. */
  readonly failure?: FailureKind;
}

export interface ProbesOptions {
  readonly providers: ProviderList;
  readonly stations: Stations;
  readonly dialects: Readonly<Record<Provider['dialect'], Dialect>>;
  readonly egress: Egress;
}

const intervalMs = 30_000;
const timeoutMs = 5_000;
const answerBytesMax = 8 * 1024 * 1024;

/** Asks providers that nobody has asked for a while whether they are there: costs them no token. */
export class Probes implements AsyncDisposable {
  readonly #options: ProbesOptions;
  readonly #results = new WeakMap<Provider, Probe>();
  readonly #stopping = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #running: Promise<void> | undefined;

  constructor(options: ProbesOptions) {
    this.#options = options;
    // Every provider that is asked listens to it, and there may be any number.
    setMaxListeners(0, this.#stopping.signal);
    this.#timer = setInterval(() => void this.run(), intervalMs).unref();
  }

  /** Undefined before the first one. */
  of(provider: Provider): Probe | undefined {
    return this.#results.get(provider);
  }

  /** Probes all who need it, now; never rejects. */
  run(): Promise<void> {
    this.#running ??= this.#runAll().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    this.#stopping.abort();
    await this.#running;
  }

  async #runAll(): Promise<void> {
    const { providers, stations } = this.#options;
    const hosted = providers.all().filter(({ origin }) => origin !== 'local');
    const quiet = hosted.filter((provider) => {
      const models = [...provider.models.values()];
      return models.every((model) => stations.of({ provider, model }).recentAttempts === 0);
    });
    await Promise.all(quiet.map((provider) => this.#probe(provider)));
  }

  async #probe(provider: Provider): Promise<void> {
    const startedAt = performance.now();
    try {
      const failure = await this.#ask(provider);
      const latencyMs = performance.now() - startedAt;
      this.#results.set(provider, { latencyMs, ...(failure && { failure }) });
    } catch (error) {
      this.#results.set(provider, { failure: failureOfCall(error) });
    }
  }

  /** Answers what is wrong. Who has no list of models is there all the same. */
  async #ask(provider: Provider): Promise<FailureKind | undefined> {
    const { dialects, egress } = this.#options;
    const dialect = dialects[provider.dialect];
    const value = await provider.keys[0]?.reveal();
    const { status } = await egress.fetch(provider.baseUrl + listPaths[provider.dialect], {
      headers: { ...(value === undefined ? {} : dialect.credential(value)), ...provider.headers },
      timeoutMs,
      responseBytesMax: answerBytesMax,
      isRedirectFollowed: false,
      signal: this.#stopping.signal,
    });
    const isWrong = status === 401 || status === 403 || status >= 500;
    return isWrong ? kindOfStatus(status) : undefined;
  }
}

/** How a call failed that brought no answer. */
export function failureOfCall(error: unknown): FailureKind {
  return Fault.from(error).code === 'deadline' ? 'late' : 'unreachable';
}

const listPaths: Readonly<Record<Provider['dialect'], string>> = {
  openai: '/models',
  anthropic: '/models',
  gemini: '/models',
  ollama: '/api/tags',
};
