import type { LlamaGrammarEvaluationState, Token } from 'node-llama-cpp';
import { CallingAnswer } from './calling-answer.ts';
import { startGrammar } from './grammar-state.ts';
import { TextStream } from './text-stream.ts';
import type { Answer, AnswerOptions } from './answer.ts';

/** The reader of an answer; one that may hold calls reads more slowly. */
export async function openAnswer(options: AnswerOptions): Promise<Answer> {
  if (options.prompt.toolFormat) return CallingAnswer.open(options, options.prompt.toolFormat);
  const { grammar: text } = options.work;
  const state = text === undefined ? undefined : await startGrammar(options, text);
  return new TextAnswer(options, state);
}

/** An answer of which all is text, up to the first stop text. */
export class TextAnswer implements Answer {
  readonly hasCalls = false;
  readonly grammar: () => LlamaGrammarEvaluationState | undefined;
  readonly #stream: TextStream<Token>;
  readonly #emit: AnswerOptions['emit'];

  constructor(options: AnswerOptions, state: LlamaGrammarEvaluationState | undefined) {
    const { model, work, prompt, emit } = options;
    this.#emit = emit;
    this.grammar = () => state;
    this.#stream = new TextStream<Token>(
      (tokens, before) => model.detokenize(tokens, false, before),
      [...work.stop, ...prompt.stopTexts],
    );
  }

  get isDone(): boolean {
    return this.#stream.isStopped;
  }

  push(token: Token): undefined {
    this.#give(this.#stream.push(token));
  }

  finish(): void {
    this.#give(this.#stream.finish());
  }

  #give(text: string): void {
    if (text !== '') this.#emit({ type: 'text', text });
  }
}
