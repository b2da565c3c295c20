import type { Token } from 'node-llama-cpp';
import type { Penalties, Sampling } from '../request.ts';
import { chosenOf } from './candidates.ts';
import type { Context } from './context.ts';
import type { Grammar } from './grammar.ts';
import type { Model } from './model.ts';
import type { Pointer } from './structs.ts';

export interface SamplerOptions {
  readonly sampling: Sampling;
  readonly penalties: Penalties | undefined;
  /** What was said before, for the penalties. */
  readonly said: readonly Token[];
}

/** Chooses the tokens of one answer. The owner disposes of it. */
export class Sampler implements Disposable {
  readonly #model: Model;
  readonly #chain: Pointer;

  constructor(model: Model, { sampling, penalties, said }: SamplerOptions) {
    const { library } = model;
    this.#model = model;
    this.#chain = library.chainInit({ no_perf: true });
    if (penalties) this.#add(this.#initPenalties(penalties));
    if (sampling.temperature > 0) this.#initChoice(sampling).forEach((link) => this.#add(link));
    else this.#add(library.initGreedy());
    if (penalties) for (const token of said.slice(-penalisedTokens)) this.#accept(token);
  }

  /** The next token by a result of the last batch; one that the grammar allows. */
  sample(context: Context, place: number, grammar: Grammar | undefined): Token {
    if (!grammar)
      return this.#model.library.samplerSample(this.#chain, context.address, place) as Token;
    // To ask the grammar about all tokens takes long, and most of the time the first choice fits.
    const free = this.#choose(context, place, undefined);
    const token = grammar.allows(free) ? free : this.#choose(context, place, grammar);
    this.#accept(token);
    grammar.accept(token);
    return token;
  }

  [Symbol.dispose](): void {
    this.#model.library.samplerFree(this.#chain);
  }

  #choose(context: Context, place: number, grammar: Grammar | undefined): Token {
    const candidates = context.candidatesAt(place);
    grammar?.apply(candidates);
    this.#model.library.samplerApply(this.#chain, candidates);
    const token = chosenOf(candidates);
    if (token === undefined) throw new Error('llama.cpp has chosen no token');
    return token;
  }

  #add(link: Pointer): void {
    this.#model.library.chainAdd(this.#chain, link);
  }

  #accept(token: Token): void {
    this.#model.library.samplerAccept(this.#chain, token);
  }

  #initPenalties({ repeat, frequency, presence }: Penalties): Pointer {
    const { library, vocabulary } = this.#model;
    const { size } = vocabulary;
    return library.initPenalties(size, penalisedTokens, repeat, frequency, presence);
  }

  #initChoice({ topK, topP, minP, temperature, seed }: Sampling): Pointer[] {
    const { library, vocabulary } = this.#model;
    const { size } = vocabulary;
    return [
      library.initTopK(topK === 0 ? size : Math.min(topK, size)),
      library.initTopP(topP, 1),
      ...(minP > 0 ? [library.initMinP(minP, 1)] : []),
      library.initTemperature(temperature),
      library.initDistribution(seed),
    ];
  }
}

/** The last ones of prompt and answer. */
const penalisedTokens = 64;
