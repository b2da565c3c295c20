import type { EmbeddingRequest, Embeddings } from '../../conversation/embedding.ts';
import type { EmbeddingDialect } from '../dialect.ts';
import { countIn, recordIn, textIn } from '../untrusted.ts';
import { estimateTokens, findUnsupported, readVectors } from '../vectors.ts';

/** `/api/embed`; a text that does not fit is to be refused, not cut. */
export const ollamaEmbeddings: EmbeddingDialect = { unsupported: findUnsupported, write, read };

function write({ input, dimensions }: EmbeddingRequest, model: string) {
  const size = dimensions === undefined ? {} : { dimensions };
  return { path: '/api/embed', body: { model, input, truncate: false, ...size } };
}

function read(body: unknown, request: EmbeddingRequest): Embeddings {
  const { embeddings, model, prompt_eval_count: count } = recordIn(body);
  return {
    model: textIn(model) ?? request.model,
    vectors: readVectors(embeddings, request),
    inputTokens: countIn(count) || estimateTokens(request),
  };
}
