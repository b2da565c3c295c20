import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { Fault } from '../../kit/errors.ts';
import type { EmbedOptions, Embedder, Embeddings } from './embedder.ts';
import { parseWordVectors, type WordVectors } from './word-vectors.ts';
import { piecesOf, stemsOf, wordsOf } from './words.ts';

/** The name of the embedder that comes with the product. */
export const inBoxEmbedderName = 'ennead-embed';

/** The file of the embedder that comes with the product, beside this module also once built. */
export const inBoxEmbedderFile = new URL('./ennead-embed.bin', import.meta.url);

/** Reads and checks an embedder's file; rejects with `unavailable` if it is missing or damaged. */
export async function loadStaticEmbedder(
  name = inBoxEmbedderName,
  file: URL | string = inBoxEmbedderFile,
): Promise<StaticEmbedder> {
  const content = await readFile(file).catch((cause: unknown) => {
    throw new Fault('unavailable', "the embedder's file cannot be read", { cause });
  });
  const digest = createHash('sha256').update(content).digest('hex');
  return new StaticEmbedder(name, parseWordVectors(content), digest);
}

/**
 * Adds up a stored vector for each word of a text and scales the sum to length 1. The time is linear
 * in the text's length, there is no longest text, and word order is not seen.
 * Long work is cut into slices of a few milliseconds, between which other work of the process runs.
 */
export class StaticEmbedder implements Embedder {
  readonly name: string;
  readonly revision: string;
  readonly dimensions: number;
  readonly digest: string;
  readonly parameterCount: number;
  readonly isNormalised = true;
  readonly #vectors: WordVectors;
  readonly #isKnown = (word: string): boolean => this.#rowOf(word) !== undefined;

  constructor(name: string, vectors: WordVectors, digest: string) {
    this.name = name;
    this.digest = digest;
    this.revision = vectors.revision;
    this.dimensions = vectors.dimensions;
    this.parameterCount = vectors.values.length;
    this.#vectors = vectors;
  }

  async embed(texts: readonly string[], { signal }: EmbedOptions = {}): Promise<Embeddings> {
    const slices = new Slices(signal);
    const vectors: Float32Array[] = [];
    const tokens: number[] = [];
    for (const text of texts) {
      const sum = new Float64Array(this.dimensions);
      let count = 0;
      for (const part of partsOf(text)) {
        count += this.#add(sum, part);
        if (slices.isOver()) await slices.rest();
      }
      if (count === 0) count = this.#addSigns(sum, text);
      vectors.push(normalised(sum));
      tokens.push(count);
    }
    return { vectors, tokens };
  }

  /** Adds the words of the text to the sum; says how many they were. */
  #add(sum: Float64Array, text: string): number {
    const words = wordsOf(text, this.#isKnown);
    for (const word of words) {
      const row = this.#rowOf(word);
      if (row === undefined) this.#addPieces(sum, word);
      else this.#addRow(sum, row, 1);
    }
    return words.length;
  }

  /** A text without a word is read as one unknown word of its characters, unless it is blank. */
  #addSigns(sum: Float64Array, text: string): number {
    const signs = text.replaceAll(/\s+/g, '');
    if (signs === '') return 0;
    this.#addPieces(sum, signs);
    return 1;
  }

  #rowOf(word: string): number | undefined {
    const { rows } = this.#vectors;
    const exact = rows.get(word);
    if (exact !== undefined) return exact;
    const stem = stemsOf(word).find((candidate) => rows.has(candidate));
    return stem === undefined ? undefined : rows.get(stem);
  }

  #addPieces(sum: Float64Array, word: string): void {
    const { rows, buckets } = this.#vectors;
    const pieces = piecesOf(word);
    const weight = 1 / Math.sqrt(pieces.length);
    for (const hash of pieces) this.#addRow(sum, rows.size + (hash % buckets), weight);
  }

  #addRow(sum: Float64Array, row: number, weight: number): void {
    const { values, scales, dimensions } = this.#vectors;
    const scale = weight * (scales[row] ?? 0);
    const start = row * dimensions;
    for (let at = 0; at < dimensions; at += 1) {
      sum[at] = (sum[at] ?? 0) + scale * (values[start + at] ?? 0);
    }
  }
}

const partLength = 16_384;
const sliceMs = 4;

/** The text in parts of bounded length, cut at white space where there is any. */
function* partsOf(text: string): Generator<string> {
  let start = 0;
  while (text.length - start > partLength) {
    const part = text.slice(start, start + partLength);
    const space = part.lastIndexOf(' ');
    const length = space > 0 ? space : partLength;
    yield part.slice(0, length);
    start += length;
  }
  yield text.slice(start);
}

function normalised(sum: Float64Array): Float32Array {
  let squares = 0;
  for (const value of sum) squares += value * value;
  const scale = squares > 0 ? 1 / Math.sqrt(squares) : 0;
  return Float32Array.from(sum, (value) => value * scale);
}

/** Says when a slice of work is over, and lets other work of the process run before the next. */
class Slices {
  readonly #signal: AbortSignal | undefined;
  #endMs = performance.now() + sliceMs;

  constructor(signal: AbortSignal | undefined) {
    signal?.throwIfAborted();
    this.#signal = signal;
  }

  isOver(): boolean {
    return performance.now() >= this.#endMs;
  }

  /** Rejects with the signal's reason if it was aborted meanwhile. */
  async rest(): Promise<void> {
    await setImmediate();
    this.#signal?.throwIfAborted();
    this.#endMs = performance.now() + sliceMs;
  }
}
