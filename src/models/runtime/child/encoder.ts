import type { Token } from 'node-llama-cpp';
import type { Context } from '../llama/context.ts';
import type { Vocabulary } from '../llama/vocabulary.ts';

/** Makes vectors of texts, one after the other. */
export class Encoder {
  readonly #context: Context;
  readonly #vocabulary: Vocabulary;
  /** The text before: the context takes one at a time. */
  #previous: Promise<unknown> = Promise.resolve();

  constructor(context: Context, vocabulary: Vocabulary) {
    this.#context = context;
    this.#vocabulary = vocabulary;
  }

  /** The tokens that are read for a text, with the marks that the model wants around it. */
  tokensOf(text: string): readonly Token[] {
    const tokens = this.#vocabulary.tokenize(text);
    const { first, last } = this.#vocabulary.frame();
    if (first !== undefined && tokens[0] !== first) tokens.unshift(first);
    if (last !== undefined && tokens.at(-1) !== last) tokens.push(last);
    return tokens;
  }

  /** As the model makes it, of any length. The caller has seen to it that there is room for the tokens. */
  async vectorOf(tokens: readonly Token[]): Promise<Float32Array> {
    const vector = this.#previous.then(() => this.#evaluate(tokens));
    this.#previous = vector.catch(() => {});
    return vector;
  }

  async #evaluate(tokens: readonly Token[]): Promise<Float32Array> {
    const { batch } = this.#context;
    this.#context.forget(0, 0);
    batch.clear();
    for (const [position, token] of tokens.entries())
      batch.add({ token, position, sequence: 0, isWanted: true });
    await this.#context.decode();
    return this.#context.vector();
  }
}
