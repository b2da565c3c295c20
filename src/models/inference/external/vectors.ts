import type { Embeddings } from '../request.ts';

const tolerance = 1e-3;

/** Vectors as numbers of JSON, as typed ones; undefined when they are no vectors of one length. */
export function toVectors(
  rows: readonly (readonly number[])[],
  count: number,
): Pick<Embeddings, 'vectors' | 'dimensions' | 'isNormalised'> | undefined {
  const vectors = rows.map((row) => Float32Array.from(row));
  const dimensions = vectors[0]?.length ?? 0;
  const isSound = vectors.every((vector) => vector.length === dimensions);
  if (vectors.length !== count || !isSound) return undefined;
  return { vectors, dimensions, isNormalised: vectors.every(isOfLengthOne) };
}

function isOfLengthOne(vector: Float32Array): boolean {
  const square = vector.reduce((sum, value) => sum + value * value, 0);
  return Math.abs(Math.sqrt(square) - 1) < tolerance;
}
