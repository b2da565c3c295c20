import type { Token } from 'node-llama-cpp';
import type { SpokenEvent } from '../../inference/request.ts';
import type { Grammar } from '../llama/grammar.ts';
import type { Model } from '../llama/model.ts';
import type { PreparedPrompt } from './prompt.ts';
import type { Work } from '../request.ts';

export type AnswerEvent = Exclude<SpokenEvent, { readonly type: 'end' }>;

/** An answer in the making: tokens in, texts and calls out, and the grammar of the next token. The owner disposes of it. */
export interface Answer extends Disposable {
  readonly push: (token: Token) => void;
  /** Gives out what was held back. */
  readonly finish: () => void;
  /** Whether the answer has ended, whatever the model would add. */
  readonly isDone: boolean;
  readonly hasCalls: boolean;
  /** To be asked before each token; undefined leaves the model free. */
  readonly grammar: () => Grammar | undefined;
}

export interface AnswerOptions {
  readonly model: Model;
  readonly work: Work;
  readonly prompt: PreparedPrompt;
  readonly emit: (event: AnswerEvent) => void;
}
