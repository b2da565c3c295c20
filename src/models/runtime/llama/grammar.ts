import type { Token } from 'node-llama-cpp';
import { CandidateRoom } from './candidates.ts';
import type { Model } from './model.ts';
import type { Candidates, Pointer } from './structs.ts';

/** How far an answer has come in a grammar. The owner disposes of it. */
export class Grammar implements Disposable {
  readonly #model: Model;
  readonly #address: Pointer;
  readonly #room = new CandidateRoom(1);

  private constructor(model: Model, address: Pointer) {
    this.#model = model;
    this.#address = address;
  }

  /** At the start of a text in GBNF, whose first rule is `root`; undefined when llama.cpp cannot take it. */
  static start(model: Model, text: string): Grammar | undefined {
    const address = model.library.initGrammar(model.vocabulary.address, text, 'root');
    return address === null ? undefined : new Grammar(model, address);
  }

  allows(token: Token): boolean {
    this.apply(this.#room.fillOne(token));
    return !this.#room.isFirstRuledOut;
  }

  /** Rules out what cannot come next. */
  apply(candidates: Candidates): void {
    this.#model.library.samplerApply(this.#address, candidates);
  }

  /** Goes on by a token that it allows. */
  accept(token: Token): void {
    const { library, vocabulary } = this.#model;
    if (!vocabulary.endsAnswer(token)) library.samplerAccept(this.#address, token);
  }

  [Symbol.dispose](): void {
    this.#model.library.samplerFree(this.#address);
    this.#room[Symbol.dispose]();
  }
}
