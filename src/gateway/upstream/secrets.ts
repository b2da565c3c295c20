import { HiddenValues } from '../../kit/secrets/hidden-values.ts';
import { isRecord } from '../dialects/untrusted.ts';
import type { Json } from '../dialects/json.ts';
import { UpstreamError } from '../dialects/upstream-error.ts';
import { maskText } from './masked-text.ts';

/** What nobody but a provider may read: the key that it is shown, and its headers' values. */
export class Secrets {
  readonly #values: HiddenValues;

  constructor(values: readonly string[]) {
    this.#values = new HiddenValues(values);
  }

  /** What an attempt failed with as it may be shown and kept; errors of our own stay as they are. */
  hideIn(error: unknown): unknown {
    if (!(error instanceof UpstreamError)) return error;
    const { message, param, code, details } = error.failure;
    return new UpstreamError({
      ...error.failure,
      message: this.#hide(message),
      ...(param !== undefined && { param: this.#hide(param) }),
      ...(code !== undefined && { code: this.#hide(code) }),
      ...(details && { details: this.#hideInRecord(details) }),
    });
  }

  #hideInRecord(record: Json): Json {
    const entries = Object.entries(record);
    return Object.fromEntries(
      entries.map(([name, value]) => [this.#hide(name), this.#hideInValue(value)]),
    );
  }

  #hideInValue(value: unknown): unknown {
    if (typeof value === 'string') return this.#hide(value);
    if (Array.isArray(value)) return value.map((item) => this.#hideInValue(item));
    return isRecord(value) ? this.#hideInRecord(value) : value;
  }

  /** The stored values themselves before the shapes: half of a value has no shape. */
  #hide(text: string): string {
    return maskText(this.#values.cutFrom(text));
  }
}
