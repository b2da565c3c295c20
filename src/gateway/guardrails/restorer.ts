import { openPlaceholderPattern } from './redaction.ts';

/** Puts data back into a text that comes in pieces, placeholders across pieces included. */
export class Restorer {
  readonly #restore: (text: string) => string;
  #held = '';

  constructor(restore: (text: string) => string) {
    this.#restore = restore;
  }

  /** What can be shown now; holds back what can be the start of a placeholder, 13 characters at most. */
  push(piece: string): string {
    const text = this.#held + piece;
    const at = openPlaceholderPattern.exec(text.slice(-longest))?.[0].length ?? 0;
    this.#held = at === 0 ? '' : text.slice(-at);
    return this.#restore(at === 0 ? text : text.slice(0, -at));
  }

  /** What was held back, when nothing more comes. */
  end(): string {
    const text = this.#held;
    this.#held = '';
    return this.#restore(text);
  }
}

/** Of an unfinished placeholder: `[EMAIL_999999`. */
const longest = 13;
