import type { Token } from 'node-llama-cpp';

/** One of the texts that a model keeps apart, of as many as it answers at a time. */
export class Sequence {
  /** Among the model's sequences, from 0 on. */
  readonly number: number;
  /** What the model has read of it, in order. */
  readonly tokens: Token[] = [];
  readonly #canGoBack: boolean;

  constructor(number: number, { canGoBack }: { readonly canGoBack: boolean }) {
    this.number = number;
    this.#canGoBack = canGoBack;
  }

  /**
   * How many of a prompt's first tokens need not be read again. The last one always is: its result is what
   * the first token of the answer is sampled from.
   */
  countShared(prompt: readonly Token[]): number {
    if (!this.#canGoBack) return 0;
    const most = Math.min(this.tokens.length, prompt.length - 1);
    for (let at = 0; at < most; at++) if (this.tokens[at] !== prompt[at]) return at;
    return Math.max(0, most);
  }
}
