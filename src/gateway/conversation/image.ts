import type { Usage } from './answer.ts';

/** Pictures that are to be made. */
export interface ImageRequest {
  /** As asked: a name, or `<provider>/<name>`. */
  readonly model: string;
  readonly prompt: string;
  /** How many, 1 to 10; one when absent. */
  readonly count?: number | undefined;
  /** Fields beyond the above by OpenAI's names, as they came: `size`, `quality`, … */
  readonly options: Readonly<Record<string, unknown>>;
}

/** Pictures that a provider made. */
export interface Images {
  /** The answer in OpenAI's words: `created`, `data`, `usage`, and what else the provider says. */
  readonly said: Readonly<Record<string, unknown>>;
  readonly count: number;
  /** Absent where the provider does not say. */
  readonly usage?: Usage | undefined;
}
