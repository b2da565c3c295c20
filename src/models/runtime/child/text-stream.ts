/** Turns tokens into text as llama.cpp does: bytes that form no character become U+FFFD. */
export type Detokenize<Token> = (tokens: readonly Token[], before: readonly Token[]) => string;

/**
 * Tokens in, text out: whole characters only, and nothing from a stop text onwards. What may still
 * turn into a stop text or a character is held back until the next token decides it.
 */
export class TextStream<Token> {
  readonly #detokenize: Detokenize<Token>;
  readonly #stops: readonly string[];
  /** Tokens whose last character is still incomplete. */
  #pending: Token[] = [];
  /** How much of the text of `#pending` has gone out. */
  #taken = 0;
  /** The tokens before `#pending`: a leading space depends on them. */
  #before: readonly Token[] = [];
  #held = '';
  #isStopped = false;

  constructor(detokenize: Detokenize<Token>, stops: readonly string[]) {
    this.#detokenize = detokenize;
    this.#stops = stops;
  }

  /** Whether a stop text was met. Nothing comes out after it. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Takes one token and answers the text that is certain now, often none. */
  push(token: Token): string {
    this.#pending.push(token);
    return this.#release(this.#decode(this.#pending.length >= brokenTokensMax));
  }

  /** Answers what was held back; a cut character comes out as U+FFFD. */
  finish(): string {
    if (this.#isStopped) return '';
    const text = this.#release(this.#decode(true)) + this.#held;
    this.#held = '';
    return text;
  }

  #decode(isLast: boolean): string {
    const text = this.#detokenize(this.#pending, this.#before);
    const end = isLast ? text.length : text.length - incompleteLength(text);
    const fresh = text.slice(this.#taken, end);
    this.#taken = Math.max(this.#taken, end);
    if (end === text.length) this.#settle();
    return fresh;
  }

  #settle(): void {
    this.#before = [...this.#before, ...this.#pending].slice(-beforeMax);
    this.#pending = [];
    this.#taken = 0;
  }

  #release(fresh: string): string {
    if (this.#isStopped) return '';
    const text = this.#held + fresh;
    const found = this.#stops.map((stop) => text.indexOf(stop)).filter((index) => index >= 0);
    this.#isStopped = found.length > 0;
    const end = this.#isStopped ? Math.min(...found) : text.length - this.#undecidedLength(text);
    this.#held = this.#isStopped ? '' : text.slice(end);
    return text.slice(0, end);
  }

  /** Length of the longest end of the text that a stop text may begin with. */
  #undecidedLength(text: string): number {
    const lengths = this.#stops.map((stop) => {
      for (let length = Math.min(stop.length - 1, text.length); length > 0; length--) {
        if (text.endsWith(stop.slice(0, length))) return length;
      }
      return 0;
    });
    return Math.max(0, ...lengths);
  }
}

/** After so many tokens without a whole character the bytes are no text, and go out as they are. */
const brokenTokensMax = 32;

/** llama.cpp's binding looks back no further. */
const beforeMax = 3;

/** An unfinished character has at most three bytes, so no more than three U+FFFD are undecided. */
function incompleteLength(text: string): number {
  return /\uFFFD{0,3}$/u.exec(text)?.[0].length ?? 0;
}
