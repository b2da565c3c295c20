/** What is shorter says nothing to anybody. */
const charsMin = 4;
const hidden = '[hidden]';

/** Values that must not be shown where somebody else quotes them. */
export class HiddenValues {
  readonly #pattern: RegExp | undefined;

  constructor(values: readonly string[]) {
    const forms = values
      .filter(({ length }) => length >= charsMin)
      .flatMap((value) => [value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1)]);
    // The longest first, so that nothing is left of one that begins with another.
    const ordered = [...new Set(forms)].toSorted((one, other) => other.length - one.length);
    if (ordered.length > 0) this.#pattern = new RegExp(ordered.map(escape).join('|'), 'gi');
  }

  /** The text without them, in whatever case or spelling it has them. */
  cutFrom(text: string): string {
    return this.#pattern ? text.replaceAll(this.#pattern, hidden) : text;
  }
}

function escape(text: string): string {
  return text.replaceAll(/[$()*+./?[\\\]^{|}-]/g, String.raw`\$&`);
}
