import { stat } from 'node:fs/promises';
import { Fault } from '../../kit/errors.ts';
import type { Caller, Inference, ModelInfo, RunningModel } from '../inference/inference.ts';
import type { Embeddings, GenerateEvent, GenerateRequest } from '../inference/request.ts';
import type { Embedders } from './embedders.ts';
import { isSameName } from '../library/model-name.ts';
import { inBoxEmbedderFile, inBoxEmbedderName } from './static-embedder.ts';

/** What `ModelInfo.runtime` says of a model that runs inside this process. */
const inBoxRuntime = 'in-box';

/** Adds the embedder that comes with the product to an Inference, as the last of its models. */
export class WithEmbedder implements Inference {
  readonly #inner: Inference;
  readonly #embedders: Embedders;

  constructor(inner: Inference, embedders: Embedders) {
    this.#inner = inner;
    this.#embedders = embedders;
  }

  async list(): Promise<readonly ModelInfo[]> {
    return [...(await this.#inner.list()), await this.#describe()];
  }

  async find(name: string | undefined): Promise<ModelInfo> {
    const isMeant = name !== undefined && isSameName(name, inBoxEmbedderName);
    return isMeant ? this.#describe() : this.#inner.find(name);
  }

  /** Without the in-box embedder, which nothing can take out of memory. */
  running(): Promise<readonly RunningModel[]> {
    return this.#inner.running();
  }

  generate(
    model: ModelInfo,
    request: GenerateRequest,
    caller: Caller,
  ): AsyncIterable<GenerateEvent> {
    if (!isInBox(model)) return this.#inner.generate(model, request, caller);
    throw new Fault('invalid', `${model.name} makes embeddings only`, {
      reason: 'unsupported_model',
      detail: { param: 'model' },
    });
  }

  async embed(model: ModelInfo, texts: readonly string[], caller: Caller): Promise<Embeddings> {
    if (!isInBox(model)) return this.#inner.embed(model, texts, caller);
    const startedAt = performance.now();
    const embedder = await this.#embedders.find();
    const loadedAt = performance.now();
    const { vectors, tokens } = await embedder.embed(texts, { signal: caller.signal });
    return {
      vectors,
      dimensions: embedder.dimensions,
      isNormalised: embedder.isNormalised,
      tokens: tokens.reduce((sum, count) => sum + count, 0),
      timings: { loadMs: loadedAt - startedAt, evalMs: performance.now() - loadedAt },
    };
  }

  async load(model: ModelInfo, caller: Caller, keepAliveMs?: number): Promise<void> {
    if (isInBox(model)) await this.#embedders.find();
    else await this.#inner.load(model, caller, keepAliveMs);
  }

  async unload(model: ModelInfo): Promise<void> {
    if (!isInBox(model)) await this.#inner.unload(model);
  }

  async #describe(): Promise<ModelInfo & { readonly isBuiltIn: true }> {
    const { name, dimensions } = await this.#embedders.find();
    const { size, mtime } = await stat(inBoxEmbedderFile);
    return {
      name,
      runtime: inBoxRuntime,
      isBuiltIn: true,
      bytes: size,
      digest: undefined,
      modifiedAt: mtime,
      capabilities: ['embedding'],
      family: 'word-vectors',
      quantization: 'I8',
      parameterCount: undefined,
      contextTokens: undefined,
      embeddingDimensions: dimensions,
    };
  }
}

/** The named model, else the embedder that comes with the product; throws `not_found`. */
export function findEmbedder(inference: Inference, name: string | undefined): Promise<ModelInfo> {
  return inference.find(name ?? inBoxEmbedderName);
}

function isInBox(model: ModelInfo): boolean {
  return model.runtime === inBoxRuntime;
}
