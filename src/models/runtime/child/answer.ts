import type { Llama, LlamaGrammarEvaluationState, LlamaModel, Token } from 'node-llama-cpp';
import type { SpokenEvent } from '../../inference/request.ts';
import { CallingAnswer } from './calling-answer.ts';
import { startGrammar } from './grammar-state.ts';
import type { PreparedPrompt } from './prompt.ts';
import type { Work } from '../request.ts';
import { TextStream } from './text-stream.ts';

export type AnswerEvent = Exclude<SpokenEvent, { readonly type: 'end' }>;

/** An answer in the making: tokens in, texts and calls out, and the grammar of the next token. */
export interface Answer {
  /** A promise must be awaited before the next token is sampled. */
  readonly push: (token: Token) => Promise<void> | undefined;
  /** Gives out what was held back. */
  readonly finish: () => void;
  /** Whether the answer has ended, whatever the model would add. */
  readonly isDone: boolean;
  readonly hasCalls: boolean;
  /** To be asked before each token; undefined leaves the model free. */
  readonly grammar: () => LlamaGrammarEvaluationState | undefined;
}

export interface AnswerOptions {
  readonly llama: Llama;
  readonly model: LlamaModel;
  readonly work: Work;
  readonly prompt: PreparedPrompt;
  readonly emit: (event: AnswerEvent) => void;
}

/** The reader of an answer; one that may hold calls reads more slowly. */
export async function openAnswer(options: AnswerOptions): Promise<Answer> {
  if (options.prompt.toolFormat) return CallingAnswer.open(options, options.prompt.toolFormat);
  const { grammar: text } = options.work;
  const state = text === undefined ? undefined : await startGrammar(options, text);
  return new TextAnswer(options, state);
}

class TextAnswer implements Answer {
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
