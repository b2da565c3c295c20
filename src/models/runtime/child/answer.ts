import type { Llama, LlamaGrammarEvaluationState, LlamaModel, Token } from 'node-llama-cpp';
import type { SpokenEvent } from '../../inference/request.ts';
import type { PreparedPrompt } from './prompt.ts';
import type { Work } from '../request.ts';

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
