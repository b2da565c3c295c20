import type { Embeddings, GenerateEvent, GenerateRequest } from './request.ts';

export type Capability = 'completion' | 'tools' | 'json' | 'embedding';

/** A model that can be asked, wherever it runs. */
export interface ModelInfo {
  /** What callers write as `model`. */
  readonly name: string;
  /** `local` for the own runtime, else the external runtime's name. */
  readonly runtime: string;
  readonly bytes: number;
  /** SHA-256 of the content in hex, where it is known. */
  readonly digest: string | undefined;
  readonly modifiedAt: Date;
  /** It came with Ennead, and stays. */
  readonly isBuiltIn?: boolean;
  readonly capabilities: readonly Capability[];
  /** `llama`, `bert`, …; as the file or the runtime calls it. */
  readonly family: string;
  /** `Q4_K_M`, `F16`, …; empty when unknown. */
  readonly quantization: string;
  readonly parameterCount: number | undefined;
  /** Longest context that the model was made for, in tokens. */
  readonly contextTokens: number | undefined;
  readonly embeddingDimensions: number | undefined;
}

/** A model that is in memory now. */
export interface RunningModel {
  readonly model: ModelInfo;
  /** What it takes, weights and contexts together. */
  readonly memoryBytes: number;
  readonly contextTokens: number;
  /** When it leaves the memory if nobody asks it before. */
  readonly expiresAt: Date | undefined;
}

/** Who asks, and how the asker gives up. */
export interface Caller {
  /** Shares are fair between these: the identity's subject. */
  readonly subject: string;
  readonly signal: AbortSignal;
}

/** A caller whose request follows, and how long the request may take. */
export interface Waiting {
  readonly caller: Caller;
  readonly deadlineMs?: number | undefined;
}

/**
 * Everything that models can do, over the own runtime and the external ones. Faults: `not_found`
 * (`model_not_found`), `invalid` (a bad option, a prompt beyond the context, a model without the
 * capability), `exhausted` (the queue is full), `deadline`, `cancelled`, `unavailable`.
 */
export interface Inference {
  /** All models, the default first. */
  list(): Promise<readonly ModelInfo[]>;
  /**
   * The model of that name, or the default where none is given; throws `not_found`. A default that
   * was never loaded is, where a caller waits for it, so that a broken one gives way to the next.
   */
  find(name: string | undefined, waiting?: Waiting): Promise<ModelInfo>;
  /**
   * The name of the model for callers that name none, also while it is missing or broken; undefined
   * where none is set and none writes. Loads nothing.
   */
  defaultName(): Promise<string | undefined>;
  running(): Promise<readonly RunningModel[]>;
  /** Nothing happens before the first event is asked for; leaving the loop frees the place. */
  generate(
    model: ModelInfo,
    request: GenerateRequest,
    caller: Caller,
  ): AsyncIterable<GenerateEvent>;
  embed(model: ModelInfo, texts: readonly string[], caller: Caller): Promise<Embeddings>;
  /** Loads a model ahead of its first request; `keepAliveMs` as in a GenerateRequest. */
  load(model: ModelInfo, caller: Caller, keepAliveMs?: number): Promise<void>;
  /** Takes a model out of memory once its requests have ended. */
  unload(model: ModelInfo): Promise<void>;
}
