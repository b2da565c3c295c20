import { stat } from 'node:fs/promises';
import { Fault } from '../../kit/errors.ts';
import type { Caller, Inference, ModelInfo, RunningModel } from '../inference/inference.ts';
import type { Embeddings, GenerateEvent, GenerateRequest } from '../inference/request.ts';
import type { Embedders } from './embedders.ts';
import { isSameName } from '../library/model-name.ts';
import { inBoxEmbedderFile, inBoxEmbedderName } from './static-embedder.ts';

/** What `ModelInfo.runtime` says of a model that runs inside this process. */
const inBoxRuntime = 'in-box';

type InBoxModel = ModelInfo & { readonly isBuiltIn: true };

/**
 * Adds the embedder that comes with the product to an Inference, as the last of its models. Its name
 * always means itself: a file of that name is hidden.
 */
export class WithEmbedder implements Inference {
  readonly #inner: Inference;
  readonly #embedders: Embedders;
  #description: Promise<InBoxModel> | undefined;

  constructor(inner: Inference, embedders: Embedders) {
    this.#inner = inner;
    this.#embedders = embedders;
  }

  async list(): Promise<readonly ModelInfo[]> {
    const others = (await this.#inner.list()).filter(({ name }) => !isInBoxName(name));
    return [...others, await this.#describe()];
  }

  async find(name: string | undefined): Promise<ModelInfo> {
    const isMeant = name !== undefined && isInBoxName(name);
    return isMeant ? this.#describe() : this.#inner.find(name);
  }

  defaultName(): Promise<string | undefined> {
    return this.#inner.defaultName();
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

  /** Read once, as the embedder itself is: every request for any model lists this one, too. */
  async #describe(): Promise<InBoxModel> {
    this.#description ??= describeEmbedder(this.#embedders);
    try {
      return await this.#description;
    } catch (error) {
      this.#description = undefined;
      throw error;
    }
  }
}

/** The embedder that comes with the product, as a listing shows it. */
export async function describeEmbedder(embedders: Embedders): Promise<InBoxModel> {
  const { name, digest, dimensions, parameterCount } = await embedders.find();
  const { size, mtime } = await stat(inBoxEmbedderFile);
  return {
    name,
    runtime: inBoxRuntime,
    isBuiltIn: true,
    bytes: size,
    digest,
    modifiedAt: mtime,
    capabilities: ['embedding'],
    family: 'word-vectors',
    quantization: 'I8',
    parameterCount,
    contextTokens: undefined,
    embeddingDimensions: dimensions,
  };
}

/**
 * The named model, else the embedder that comes with the product; Faults `not_found`, and `invalid`
 * for one of our own runtime that makes no embeddings.
 */
export async function findEmbedder(
  inference: Inference,
  name: string | undefined,
): Promise<ModelInfo> {
  const model = await inference.find(name ?? inBoxEmbedderName);
  // Of the models of other runtimes only these know whether they can.
  if (model.runtime !== 'local' || model.capabilities.includes('embedding')) return model;
  throw new Fault('invalid', `${model.name} makes no embeddings`, {
    reason: 'unsupported_model',
    detail: { param: 'model' },
  });
}

function isInBoxName(name: string): boolean {
  return isSameName(name, inBoxEmbedderName);
}

function isInBox(model: ModelInfo): boolean {
  return model.runtime === inBoxRuntime;
}
