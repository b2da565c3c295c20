import { beforeAll, expect, test } from 'vitest';
import { readRandomModel } from '../testing.ts';
import { parseGgufHeader, type GgufHeader } from './gguf-header.ts';
import { findFlaw } from './soundness.ts';

let sound: GgufHeader;
beforeAll(async () => {
  sound = parseGgufHeader(await readRandomModel());
});

test.each<[string, Partial<GgufHeader>]>([
  ['has no llama.block_count above 0', { blockCount: undefined }],
  ['has no llama.embedding_length above 0', { embeddingDimensions: 0 }],
  ['has no tensors', { tensorCount: 0 }],
  ['has 1 of 2 blocks', { blocksFound: 1 }],
  ['has no tensor token_embd.weight', { tokenEmbedding: undefined }],
  ['has embeddings of 32 numbers and says 64', { tokenEmbedding: [32, 10] }],
  ['has no attention heads', { headCount: 0 }],
  ['has 5 heads, which do not divide 64', { headCount: 5 }],
])('a header that %s is found unsound', (flaw, changed) => {
  expect(findFlaw({ ...sound, ...changed })).toBe(flaw);
});

test('embeddings for other tokens than the vocabulary has are found unsound', () => {
  const tokenEmbedding = [64, 7];
  expect(findFlaw({ ...sound, tokenEmbedding })).toMatch(/^has embeddings for 7 tokens and names /);
});

test('a sound header has no flaw', () => {
  expect(findFlaw(sound)).toBeUndefined();
});

test('a model without attention needs no heads', () => {
  expect(findFlaw({ ...sound, hasAttention: false, headCount: 0 })).toBeUndefined();
});
