import type { Token } from 'node-llama-cpp';
import type { Grammar } from '../llama/grammar.ts';
import type { Answer, AnswerOptions } from './answer.ts';
import { CallingAnswer } from './calling-answer.ts';
import { startGrammar } from './start-grammar.ts';
import { TextStream } from './text-stream.ts';

/** The reader of an answer; one that may hold calls reads more slowly. */
export function openAnswer(options: AnswerOptions): Answer {
  const { toolFormat } = options.prompt;
  return toolFormat ? new CallingAnswer(options, toolFormat) : new TextAnswer(options);
}

/** An answer of which all is text, up to the first stop text. */
class TextAnswer implements Answer {
  readonly hasCalls = false;
  readonly #grammar: Grammar | undefined;
  readonly #stream: TextStream<Token>;
  readonly #emit: AnswerOptions['emit'];

  constructor(options: AnswerOptions) {
    const { model, work, prompt, emit } = options;
    this.#emit = emit;
    this.#grammar = work.grammar === undefined ? undefined : startGrammar(model, work.grammar);
    this.#stream = new TextStream<Token>(
      (tokens, before) => model.vocabulary.detokenize(tokens, false, before),
      [...work.stop, ...prompt.stopTexts],
    );
  }

  readonly grammar = () => this.#grammar;

  get isDone(): boolean {
    return this.#stream.isStopped;
  }

  push(token: Token): void {
    this.#give(this.#stream.push(token));
  }

  finish(): void {
    this.#give(this.#stream.finish());
  }

  [Symbol.dispose](): void {
    this.#grammar?.[Symbol.dispose]();
  }

  #give(text: string): void {
    if (text !== '') this.#emit({ type: 'text', text });
  }
}
