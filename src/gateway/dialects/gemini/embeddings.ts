import type { EmbeddingRequest, Embeddings } from '../../conversation/embedding.ts';
import type { EmbeddingDialect } from '../dialect.ts';
import { readVectors, findUnsupported, estimateTokens } from '../vectors.ts';
import { countIn, recordIn } from '../untrusted.ts';

/** `:batchEmbedContents`, which says what it took only for the newest models. */
export const geminiEmbeddings: EmbeddingDialect = {
  unsupported: findUnsupported,
  // Above it Google answers 400: "at most 100 requests can be in one batch".
  inputsMax: 100,
  write,
  read,
};

function write({ input, dimensions }: EmbeddingRequest, model: string) {
  const size = dimensions === undefined ? {} : { outputDimensionality: dimensions };
  const requests = input.map((text) => ({
    model: `models/${model}`,
    content: { parts: [{ text }] },
    ...size,
  }));
  return { path: `/models/${encodeURIComponent(model)}:batchEmbedContents`, body: { requests } };
}

function read(body: unknown, request: EmbeddingRequest): Embeddings {
  const { embeddings, usageMetadata } = recordIn(body);
  const values = Array.isArray(embeddings)
    ? embeddings.map((item: unknown) => recordIn(item).values)
    : undefined;
  return {
    model: request.model,
    vectors: readVectors(values, request),
    inputTokens: countIn(recordIn(usageMetadata).promptTokenCount) || estimateTokens(request),
  };
}
