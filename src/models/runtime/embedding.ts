import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Token } from 'node-llama-cpp';
import { Fault } from '../../kit/errors.ts';
import { ofVectorText, toVectorText } from '../embedding/vector-text.ts';
import type { Embeddings } from '../inference/request.ts';
import type { EmbeddingModel } from './child/engine.ts';
import type { EmbedEnd } from './protocol.ts';
import { countBeyond } from './child/token-count.ts';

export interface EmbeddingOptions {
  readonly signal: AbortSignal;
  readonly loadMs: number;
}

/**
 * Embeds texts one after the other, each vector of length 1. Fault `invalid` names the first text
 * that is empty or longer than the model reads; none is cut. `cancelled` between two texts.
 */
export async function embed(
  { model, encoder, contextTokens }: EmbeddingModel,
  texts: readonly string[],
  { signal, loadMs }: EmbeddingOptions,
): Promise<EmbedEnd> {
  const startedAt = performance.now();
  const read: (readonly Token[])[] = [];
  for (const [index, text] of texts.entries()) {
    const limit = { tokensMax: contextTokens, signal };
    const beyond = await countBeyond(model.vocabulary, [text], limit);
    if (beyond !== undefined) checkLength({ index, length: beyond, contextTokens });
    const tokens = encoder.tokensOf(text);
    checkLength({ index, length: tokens.length, contextTokens });
    read.push(tokens);
    // Texts come by the thousand, and nobody else's next token shall wait for all of them.
    await nextTurn();
    signal.throwIfAborted();
  }
  const vectors: string[] = [];
  for (const tokens of read) {
    signal.throwIfAborted();
    vectors.push(toVectorText(normalise(await encoder.vectorOf(tokens))));
  }
  return {
    type: 'embedded',
    vectors,
    tokens: read.reduce((sum, { length }) => sum + length, 0),
    loadMs,
    evalMs: performance.now() - startedAt,
  };
}

/** What the child has answered, as its parent's callers get it. */
export function toEmbeddings({ vectors: texts, tokens, loadMs, evalMs }: EmbedEnd): Embeddings {
  const vectors = texts.map(ofVectorText);
  const dimensions = vectors[0]?.length ?? 0;
  return { vectors, dimensions, isNormalised: true, tokens, timings: { loadMs, evalMs } };
}

interface Length {
  readonly index: number;
  readonly length: number;
  readonly contextTokens: number;
}

function checkLength({ index, length, contextTokens }: Length): void {
  if (length < contextTokens) return;
  const message = `text ${index} has ${length} tokens or more, the model reads ${contextTokens - 1}`;
  const detail = { index, tokens: length, contextTokens };
  throw new Fault('invalid', message, { reason: 'context_length_exceeded', detail });
}

/** A vector of zeros stays what it is. */
function normalise(vector: Float32Array): Float32Array {
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  return vector.map((value) => (length > 0 ? value / length : value));
}
