import type { Caller, Inference } from '../inference/inference.ts';
import { toVectorText } from '../embedding/vector-text.ts';
import { findEmbedder } from '../embedding/with-embedder.ts';
import { ofTooLong } from './faults.ts';
import { invalidField, requireDimensions, unsupported } from '../unsupported.ts';
import type { EmbeddingList, EmbeddingRequest } from './text-schemas.ts';

/** Turns texts into vectors; without a model named it is the in-box embedder that does. */
export async function embedTexts(
  body: EmbeddingRequest,
  { inference, caller }: { readonly inference: Inference; readonly caller: Caller },
): Promise<EmbeddingList> {
  const texts = readTexts(body);
  const model = await findEmbedder(inference, body.model ?? undefined);
  const { embeddingDimensions } = model;
  requireDimensions(body, embeddingDimensions);
  const { vectors, dimensions, isNormalised, tokens } = await inference
    .embed(model, texts, caller)
    .catch((error: unknown) => {
      throw ofTooLong(error, 'input');
    });
  requireDimensions(body, dimensions);
  const encode = body.encoding_format === 'base64' ? toVectorText : toNumbers;
  return {
    object: 'list',
    data: vectors.map((vector, index) => ({
      object: 'embedding',
      index,
      embedding: encode(vector),
    })),
    model: model.name,
    dimensions,
    normalised: isNormalised,
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  };
}

function readTexts({ input }: EmbeddingRequest): readonly string[] {
  const texts = typeof input === 'string' ? [input] : input;
  return texts.map((text, at) => {
    if (typeof text === 'number' || Array.isArray(text)) {
      throw unsupported('input', 'input as tokens');
    }
    if (typeof text === 'string' && text !== '') return text;
    throw invalidField(`input[${at}]`, 'must be a text that is not empty');
  });
}

function toNumbers(vector: Float32Array): number[] {
  return Array.from(vector);
}
