import type { GgufHeader } from './gguf-header.ts';

/**
 * The first thing in a header that no runtime can load, as a sentence without its subject; undefined
 * when there is none. Only loading a model tells whether it really works.
 */
export function findFlaw(header: GgufHeader): string | undefined {
  // A projector is no model of its own.
  if (header.architecture === 'clip') return undefined;
  return flawOfKeys(header) ?? flawOfTensors(header);
}

function flawOfKeys(header: GgufHeader): string | undefined {
  const { architecture, contextTokens, embeddingDimensions, blockCount } = header;
  const required = {
    context_length: contextTokens,
    embedding_length: embeddingDimensions,
    block_count: blockCount,
  };
  const missing = Object.entries(required).find(([, value]) => !(Number(value) > 0));
  return missing && `has no ${architecture}.${missing[0]} above 0`;
}

function flawOfTensors(header: GgufHeader): string | undefined {
  const { tensorCount, tokenEmbedding, blocksFound, blockCount = 0, embeddingDimensions } = header;
  if (tensorCount === 0) return 'has no tensors';
  if (blocksFound < blockCount) return `has ${blocksFound} of ${blockCount} blocks`;
  if (!tokenEmbedding) return 'has no tensor token_embd.weight';
  const [width, tokens] = tokenEmbedding;
  if (width !== embeddingDimensions) {
    return `has embeddings of ${width} numbers and says ${embeddingDimensions}`;
  }
  const vocabulary = header.metadata.get('tokenizer.ggml.tokens');
  const words = typeof vocabulary === 'object' ? vocabulary.length : tokens;
  if (words !== tokens) return `has embeddings for ${tokens} tokens and names ${words}`;
  return flawOfHeads(header);
}

/** Models without attention may say that they have no heads. */
function flawOfHeads({ hasAttention, headCount, architecture, ...header }: GgufHeader) {
  if (!hasAttention || headCount === undefined) return undefined;
  if (headCount < 1) return 'has no attention heads';
  const isWidthGiven = header.metadata.has(`${architecture}.attention.key_length`);
  const { embeddingDimensions: width = 0 } = header;
  if (isWidthGiven || width % headCount === 0) return undefined;
  return `has ${headCount} heads, which do not divide ${width}`;
}
