import { Fault } from '../../kit/errors.ts';
import { isFlaw } from './flaws.ts';
import type { ModelInfo, Waiting } from './inference.ts';

export interface DefaultChoiceOptions {
  /** Whether a model is of our own runtime; of others nothing is known beforehand. */
  readonly isOurs: (model: ModelInfo) => boolean;
  /** Why no request to a model of our own can succeed, where that is known. */
  readonly flawOf?: ((model: ModelInfo) => Promise<Fault | undefined>) | undefined;
  /** The same, found out by loading a model that never worked yet; other Faults are thrown. */
  readonly prove?: ((model: ModelInfo, waiting: Waiting) => Promise<Fault | undefined>) | undefined;
}

/** Chooses the model for callers that name none, whose flaws are not their fault. */
export class DefaultChoice {
  readonly #options: DefaultChoiceOptions;
  /** What was chosen, and how long the choice took. */
  readonly #chosen = new WeakMap<ModelInfo, number>();

  constructor(options: DefaultChoiceOptions) {
    this.#options = options;
  }

  /** The first that writes and has no flaw; else the first that writes at all. */
  async first(models: readonly ModelInfo[], waiting?: Waiting): Promise<ModelInfo | undefined> {
    const writers = models.filter(({ capabilities }) => capabilities.includes('completion'));
    for (const model of writers) if (!(await this.#flawOf(model, waiting))) return model;
    return writers[0];
  }

  /** A copy, so that whoever names the model gets another object. */
  mark(model: ModelInfo, tookMs: number): ModelInfo {
    const copy = { ...model };
    this.#chosen.set(copy, tookMs);
    return copy;
  }

  /** How much of the time of a request its choice has taken. */
  tookMs(model: ModelInfo): number {
    return this.#chosen.get(model) ?? 0;
  }

  /** What to tell of an error of a model: to a caller that did not name it a flaw means to come again. */
  blame(model: ModelInfo, error: unknown): unknown {
    if (!this.#chosen.has(model) || !isFlaw(error)) return error;
    const { message, reason = '', detail } = error;
    return new Fault('unavailable', `the default model cannot answer: ${message}`, {
      cause: error,
      reason,
      detail,
      retryAfter: 1,
    });
  }

  async #flawOf(model: ModelInfo, waiting: Waiting | undefined): Promise<Fault | undefined> {
    const { isOurs, flawOf, prove } = this.#options;
    if (!isOurs(model)) return undefined;
    const known = await flawOf?.(model);
    return known || !waiting ? known : prove?.(model, waiting);
  }
}
