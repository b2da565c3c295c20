import type { Code } from '../../kit/errors.ts';
import type { GenerateEnd, ToolCall } from '../inference/request.ts';
import type { Work } from './request.ts';

/** What the child is started with, as JSON in its only argument. */
export interface ChildSettings {
  /** Sequences per model that are evaluated together. */
  readonly parallel: number;
  readonly threads: number;
  /** Upper bound of one sequence's context; a model trained for less gets less. */
  readonly contextTokensMax: number;
  /** Processor time of a model's chat template while the model is loaded. */
  readonly templateMs: number;
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

/** Whether a model writes or makes vectors. */
export type ModelKind = 'generative' | 'embedding';

/** What a model is asked for. */
export type Task =
  | { readonly kind: 'generate'; readonly work: Work }
  | { readonly kind: 'embed'; readonly texts: readonly string[] }
  /** Only to have the model in memory. */
  | { readonly kind: 'load' };

export interface EmbedEnd {
  readonly type: 'embedded';
  /** Each of length 1, in the order of the texts, as `toVectorText` writes it. */
  readonly vectors: readonly string[];
  readonly tokens: number;
  readonly loadMs: number;
  readonly evalMs: number;
}

/** How a task ends well. */
export type TaskEnd = GenerateEnd | EmbedEnd | { readonly type: 'loaded' };

export interface RunMessage {
  readonly type: 'run';
  readonly id: number;
  readonly key: ModelKey;
  readonly path: string;
  /** How to open it when it is not open yet. */
  readonly model: ModelKind;
  /** Whose task it is. */
  readonly subject: string;
  readonly task: Task;
}

/** Parent to child. Messages arrive in the order in which they were sent. */
export type ToChild =
  | RunMessage
  /** Without effect when the task has ended already. */
  | { readonly type: 'cancel'; readonly id: number }
  /** Only sent when no task of this model is open. */
  | { readonly type: 'unload'; readonly key: ModelKey }
  /** Answered with `pong` as soon as the event loop turns. */
  | { readonly type: 'ping' };

export interface FailedMessage {
  readonly type: 'failed';
  readonly id: number;
  readonly code: Code;
  readonly message: string;
  readonly reason: string | undefined;
  readonly detail: Readonly<Record<string, unknown>>;
  /** For the log only. */
  readonly cause: string | undefined;
}

/** Child to parent. Each `run` is answered by exactly one `end` or `failed`. */
export type ToParent =
  | { readonly type: 'ready' }
  | { readonly type: 'pong' }
  | { readonly type: 'loaded'; readonly key: ModelKey; readonly model: LoadedModel }
  | { readonly type: 'text'; readonly id: number; readonly text: string }
  | { readonly type: 'call'; readonly id: number; readonly call: ToolCall }
  | { readonly type: 'end'; readonly id: number; readonly end: TaskEnd }
  | FailedMessage
  | { readonly type: 'log'; readonly level: 'warn' | 'error'; readonly message: string };
