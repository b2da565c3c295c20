import { expect, test } from 'vitest';
import { chunkLengthMax, cutIntoChunks } from './chunking.ts';
import { VectorIndex } from './vector-index.ts';

/** Numbers that look random and are the same each time. */
function createNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296 - 0.5;
  };
}

const dimensions = 8;
const next = createNumbers(7);
const newVector = () => Float32Array.from({ length: dimensions }, next);
const dot = (one: Float32Array, other: Float32Array) =>
  one.reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0);

test('it finds the same as comparing with every document, after removals too', async () => {
  const index = new VectorIndex({ dimensions, revision: 0, capacity: 4 });
  const chunks = Array.from({ length: 3_000 }, (_, at) => ({
    documentId: `d${at % 1_000}`,
    ordinal: Math.floor(at / 1_000),
    vector: newVector(),
  }));
  for (const chunk of chunks) index.add(chunk);
  for (let at = 0; at < 1_000; at += 3) index.remove(`d${at}`);
  index.remove('nobody');
  expect(index.waste).toBeCloseTo(0.334);
  const vector = newVector();
  const bestOf = new Map<string, number>();
  for (const { documentId, vector: own } of chunks) {
    if (Number(documentId.slice(1)) % 3 === 0) continue;
    bestOf.set(documentId, Math.max(bestOf.get(documentId) ?? -9, dot(own, vector)));
  }
  const expected = [...bestOf].toSorted((one, other) => other[1] - one[1]).slice(0, 25);
  const found = await index.search({ vector, limit: 25, minScore: -9 });
  expect(found.map(({ documentId }) => documentId)).toEqual(expected.map(([id]) => id));
});

test('what is stored while a search pauses does not disturb it', async () => {
  const index = new VectorIndex({ dimensions: 2_000_000, revision: 0, capacity: 4 });
  const vector = new Float32Array(2_000_000).fill(1);
  for (let at = 0; at < 6; at += 1) index.add({ documentId: `d${at}`, ordinal: 0, vector });
  const searching = index.search({ vector, limit: 10, minScore: 1 });
  for (let at = 6; at < 9; at += 1) index.add({ documentId: `d${at}`, ordinal: 0, vector });
  index.remove('d0');
  const found = await searching;
  const names = found.map(({ documentId }) => documentId);
  expect(names).not.toContain('d0');
  expect(names.slice(0, 5)).toEqual(['d1', 'd2', 'd3', 'd4', 'd5']);
});

test('chunks cover the whole text, overlap, and split no character', () => {
  const words = Array.from({ length: 2_000 }, (_, at) => `word${at}`).join(' ');
  const chunks = cutIntoChunks(words);
  expect(chunks.every(({ length }) => length <= chunkLengthMax)).toBe(true);
  const seen = new Set(chunks.flatMap((chunk) => chunk.trim().split(' ')));
  expect([...seen].filter((word) => !words.split(' ').includes(word))).toEqual([]);
  expect(seen.size).toBe(2_000);
  for (const chunk of cutIntoChunks('😀'.repeat(5_000)))
    expect(chunk).not.toMatch(/[\ud800-\udfff]/u);
  expect(cutIntoChunks(`${'a'.repeat(1_500)}\n\n${'b'.repeat(1_500)}`)[0]?.trim()).toBe(
    'a'.repeat(1_500),
  );
});
