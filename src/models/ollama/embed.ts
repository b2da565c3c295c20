import { findEmbedder } from '../embedding/with-embedder.ts';
import type { Caller, Inference, ModelInfo } from '../inference/inference.ts';
import type { Embeddings } from '../inference/request.ts';
import { requireDimensions } from '../unsupported.ts';
import { toNanoseconds } from './answers.ts';
import { readKeepAlive } from './keep-alive.ts';
import type { EmbedAnswer, EmbedBody } from './model-schemas.ts';

interface Asked {
  readonly inference: Inference;
  readonly caller: Caller;
}

/** Turns texts into vectors; for an empty text alone the model is only loaded, or unloaded. */
export async function embed(body: EmbedBody, asked: Asked): Promise<EmbedAnswer> {
  const startedAt = performance.now();
  const model = await findEmbedder(asked.inference, body.model ?? undefined);
  requireDimensions(body, model.embeddingDimensions);
  const { vectors, dimensions, isNormalised, tokens, timings } = await ask(body, model, asked);
  requireDimensions(body, dimensions);
  return {
    model: model.name,
    embeddings: vectors.map((vector) => Array.from(vector)),
    dimensions,
    normalised: isNormalised,
    total_duration: toNanoseconds(performance.now() - startedAt),
    load_duration: toNanoseconds(timings.loadMs),
    prompt_eval_count: tokens,
  };
}

async function ask(
  { input, keep_alive: keepAlive }: EmbedBody,
  model: ModelInfo,
  { inference, caller }: Asked,
): Promise<Embeddings> {
  const keepAliveMs = readKeepAlive(keepAlive);
  const texts = typeof input === 'string' ? [input] : input;
  if (input === '' || texts.length === 0) return prepare(model, keepAliveMs, { inference, caller });
  const embeddings = await inference.embed(model, texts, caller);
  if (keepAliveMs !== undefined) await inference.load(model, caller, keepAliveMs);
  return embeddings;
}

async function prepare(
  model: ModelInfo,
  keepAliveMs: number | undefined,
  { inference, caller }: Asked,
): Promise<Embeddings> {
  const startedAt = performance.now();
  if (keepAliveMs === 0) await inference.unload(model);
  else await inference.load(model, caller, keepAliveMs);
  return {
    vectors: [],
    dimensions: model.embeddingDimensions ?? 0,
    isNormalised: true,
    tokens: 0,
    timings: { loadMs: performance.now() - startedAt, evalMs: 0 },
  };
}
