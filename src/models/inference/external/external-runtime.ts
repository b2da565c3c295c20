import type { Caller, ModelInfo, RunningModel } from '../inference.ts';
import type { Embeddings, GenerateEvent, GenerateRequest } from '../request.ts';

/**
 * A runtime in another process, reached over HTTP. Faults as those of `Inference`; `unavailable`
 * when nobody answers, `upstream` when the answer makes no sense.
 */
export interface ExternalRuntime {
  /** What `ModelInfo.runtime` says. */
  readonly name: string;
  list(signal: AbortSignal): Promise<readonly ModelInfo[]>;
  /** Empty where the runtime does not tell. */
  running(signal: AbortSignal): Promise<readonly RunningModel[]>;
  generate(
    model: ModelInfo,
    request: GenerateRequest,
    caller: Caller,
  ): AsyncIterable<GenerateEvent>;
  embed(model: ModelInfo, texts: readonly string[], caller: Caller): Promise<Embeddings>;
  /** Does nothing where the runtime alone decides. */
  load(model: ModelInfo, caller: Caller, keepAliveMs?: number): Promise<void>;
  /** Does nothing where the runtime alone decides. */
  unload(model: ModelInfo): Promise<void>;
}
