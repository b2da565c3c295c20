import type { Code } from '../../kit/errors.ts';
import type { GenerateEnd, Work } from './request.ts';

/** What the child is started with, as JSON in its only argument. */
export interface ChildSettings {
  /** Sequences per model that are evaluated together. */
  readonly parallel: number;
  readonly threads: number;
  /** Upper bound of one sequence's context; a model trained for less gets less. */
  readonly contextTokensMax: number;
}

/** A model that the child holds in memory. */
export interface LoadedModel {
  readonly path: string;
  /** `general.name` of the file, or the file's own name. */
  readonly name: string;
  readonly architecture: string;
  readonly sizeBytes: number;
  /** What one request may use, prompt and completion together. */
  readonly contextTokens: number;
  readonly loadMs: number;
}

/** Names one file's content: a file that was replaced under the same path is another model. */
export type ModelKey = string;

export interface GenerateMessage {
  readonly type: 'generate';
  readonly id: number;
  readonly key: ModelKey;
  readonly path: string;
  readonly work: Work;
}

/** Parent to child. Messages arrive in the order in which they were sent. */
export type ToChild =
  | GenerateMessage
  /** Without effect when the request has ended already. */
  | { readonly type: 'cancel'; readonly id: number }
  /** Only sent when no request of this model is open. */
  | { readonly type: 'unload'; readonly key: ModelKey };

export interface FailedMessage {
  readonly type: 'failed';
  readonly id: number;
  readonly code: Code;
  readonly message: string;
  /** For the log only. */
  readonly cause: string | undefined;
}

/** Child to parent. Each `generate` is answered by exactly one `end` or `failed`. */
export type ToParent =
  | { readonly type: 'ready' }
  | { readonly type: 'loaded'; readonly key: ModelKey; readonly model: LoadedModel }
  | { readonly type: 'text'; readonly id: number; readonly text: string }
  | { readonly type: 'end'; readonly id: number; readonly end: GenerateEnd }
  | FailedMessage
  | { readonly type: 'log'; readonly level: 'warn' | 'error'; readonly message: string };
