import type { Log } from '../../../kit/log.ts';
import { isSameName } from '../../library/model-name.ts';
import type { ModelInfo } from '../inference.ts';
import type { ExternalRuntime } from './external-runtime.ts';

const freshMsDefault = 5_000;
const timeoutMs = 3_000;

export interface OffersOptions {
  readonly log: Log;
  /** For how long an answer holds. */
  readonly freshMs?: number | undefined;
}

/**
 * The models of an external runtime. An answer holds for five seconds, and who asks later gets it
 * while the next one is on its way: a runtime that hangs costs the others nothing. That it went
 * silent and came back is logged once each.
 */
export class Offers {
  readonly runtime: ExternalRuntime;
  readonly #log: Log;
  readonly #freshMs: number;
  #known: readonly ModelInfo[] | undefined;
  #asking: Promise<readonly ModelInfo[]> | undefined;
  #askedAt = Number.NEGATIVE_INFINITY;
  #lastNames: readonly string[] = [];
  #isSilent = false;

  constructor(runtime: ExternalRuntime, { log, freshMs = freshMsDefault }: OffersOptions) {
    this.runtime = runtime;
    this.#log = log;
    this.#freshMs = freshMs;
  }

  /** Whether the runtime did not answer when it was last asked. */
  get isSilent(): boolean {
    return this.#isSilent;
  }

  /** Whether the runtime had that model when it last answered, with its name before it or without. */
  hadModel(name: string): boolean {
    const prefix = `${this.runtime.name}/`;
    return this.#lastNames.some((had) => isSameName(had, name) || isSameName(prefix + had, name));
  }

  /** What is known without waiting, except for the very first answer; empty while it is silent. */
  async list(): Promise<readonly ModelInfo[]> {
    const current = this.current();
    return this.#known ?? current;
  }

  /** What holds now. */
  current(): Promise<readonly ModelInfo[]> {
    const isFresh = performance.now() - this.#askedAt < this.#freshMs;
    if (this.#asking) return this.#asking;
    if (isFresh && this.#known) return Promise.resolve(this.#known);
    this.#askedAt = performance.now();
    this.#asking = this.#ask();
    return this.#asking;
  }

  async #ask(): Promise<readonly ModelInfo[]> {
    this.#known = await this.#read();
    this.#asking = undefined;
    return this.#known;
  }

  async #read(): Promise<readonly ModelInfo[]> {
    const { name } = this.runtime;
    try {
      const models = await this.runtime.list(AbortSignal.timeout(timeoutMs));
      if (this.#isSilent) this.#log.info(`${name} answers again`);
      this.#isSilent = false;
      this.#lastNames = models.map((model) => model.name);
      return models;
    } catch (error) {
      if (!this.#isSilent) {
        this.#log.warn({ err: error }, `${name} does not answer: its models are left out`);
      }
      this.#isSilent = true;
      return [];
    }
  }
}
