import { UpstreamError } from '../dialects/upstream-error.ts';
import { maskText } from './masked-text.ts';

/** What is shorter says nothing to anybody. */
const charsMin = 4;
const hidden = '[hidden]';

/** What nobody but a provider may read: the key that it is shown, and its headers' values. */
export class Secrets {
  readonly #pattern: RegExp | undefined;

  constructor(values: readonly string[]) {
    const forms = values
      .filter(({ length }) => length >= charsMin)
      .flatMap((value) => [value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1)]);
    // The longest first, so that nothing is left of one that begins with another.
    const ordered = [...new Set(forms)].toSorted((one, other) => other.length - one.length);
    if (ordered.length > 0) this.#pattern = new RegExp(ordered.map(escape).join('|'), 'gi');
  }

  /** What an attempt failed with as it may be shown and kept; errors of our own stay as they are. */
  hideIn(error: unknown): unknown {
    if (!(error instanceof UpstreamError)) return error;
    const { message, param, code } = error.failure;
    return new UpstreamError({
      ...error.failure,
      message: this.#hide(message),
      ...(param !== undefined && { param: this.#hide(param) }),
      ...(code !== undefined && { code: this.#hide(code) }),
    });
  }

  /** The stored values themselves before the shapes: half of a value has no shape. */
  #hide(text: string): string {
    return maskText(this.#pattern ? text.replaceAll(this.#pattern, hidden) : text);
  }
}

function escape(text: string): string {
  return text.replaceAll(/[$()*+./?[\\\]^{|}-]/g, String.raw`\$&`);
}
