import { Best } from '../../kit/vectors/best.ts';
import { eachProduct, strideOf } from '../../kit/vectors/row-products.ts';

/** A chunk's place in its collection. */
export interface ChunkPlace {
  readonly documentId: string;
  readonly ordinal: number;
}

export interface StoredVector extends ChunkPlace {
  readonly vector: Float32Array;
}

/** A document's chunk that is closest to what was asked. */
export interface Candidate extends ChunkPlace {
  readonly score: number;
}

export interface Seeking {
  readonly vector: Float32Array;
  readonly limit: number;
  readonly minScore: number;
  /** Only these documents; all when absent. */
  readonly among?: ReadonlySet<string> | undefined;
}

/** Bytes that a document takes beside its vectors, about. */
const documentBytes = 120;

/**
 * The vectors of a collection in one array, searched from end to end. Rows are only appended, and a
 * removed document's rows are skipped, so that a search that pauses sees nothing change under it.
 */
export class VectorIndex {
  readonly dimensions: number;
  /** Of the collection, as far as this is built from it. */
  revision: number;
  readonly #stride: number;
  #vectors: Float32Array;
  /** The number of each row's document. */
  #documentOf: Uint32Array;
  #ordinals: Uint32Array;
  /** The ids of documents by number; undefined for those that were removed. */
  readonly #ids: (string | undefined)[] = [];
  readonly #numbers = new Map<string, number>();
  #rowCount = 0;

  constructor(options: {
    readonly dimensions: number;
    readonly revision: number;
    readonly capacity: number;
  }) {
    this.dimensions = options.dimensions;
    this.revision = options.revision;
    this.#stride = strideOf(options.dimensions, Float32Array);
    const capacity = Math.max(16, options.capacity);
    this.#vectors = new Float32Array(capacity * this.#stride);
    this.#documentOf = new Uint32Array(capacity);
    this.#ordinals = new Uint32Array(capacity);
  }

  get bytes(): number {
    const rows = this.#vectors.byteLength + this.#documentOf.byteLength + this.#ordinals.byteLength;
    return rows + this.#ids.length * documentBytes;
  }

  /** Documents that were removed or replaced, as a part of all that it ever held, 0..1. */
  get waste(): number {
    return this.#ids.length === 0 ? 0 : 1 - this.#numbers.size / this.#ids.length;
  }

  add({ documentId, ordinal, vector }: StoredVector): void {
    if (this.#rowCount === this.#documentOf.length) this.#grow();
    const row = this.#rowCount;
    this.#vectors.set(vector, row * this.#stride);
    this.#documentOf[row] = this.#numberOf(documentId);
    this.#ordinals[row] = ordinal;
    this.#rowCount += 1;
  }

  /** Forgets a document; nothing when it has none of that id. */
  remove(documentId: string): void {
    const number = this.#numbers.get(documentId);
    if (number === undefined) return;
    this.#numbers.delete(documentId);
    this.#ids[number] = undefined;
  }

  /** The closest documents, each with its closest chunk, the closest first. */
  async search({ vector, limit, minScore, among }: Seeking): Promise<Candidate[]> {
    const ordinals = this.#ordinals;
    const { scores, rows } = await this.#score(vector);
    const best = new Best<Candidate>(limit, isBefore);
    for (const [number, documentId] of this.#ids.entries()) {
      const score = scores[number] ?? -Infinity;
      const isWanted = score >= minScore && score > best.least;
      if (!isWanted || documentId === undefined) continue;
      if (among && !among.has(documentId)) continue;
      best.offer({ documentId, ordinal: ordinals[rows[number] ?? 0] ?? 0, score });
    }
    return best.sorted();
  }

  /** The best score of each document and the row that has it. */
  async #score(vector: Float32Array) {
    const documentOf = this.#documentOf;
    const scores = new Float32Array(this.#ids.length).fill(-Infinity);
    const rows = new Uint32Array(this.#ids.length);
    const stored = { numbers: this.#vectors, stride: this.#stride, count: this.#rowCount };
    await eachProduct(stored, vector, (row, score) => {
      const number = documentOf[row] ?? 0;
      if (score <= (scores[number] ?? Infinity)) return;
      scores[number] = score;
      rows[number] = row;
    });
    return { scores, rows };
  }

  #numberOf(documentId: string): number {
    const known = this.#numbers.get(documentId);
    if (known !== undefined) return known;
    const number = this.#ids.push(documentId) - 1;
    this.#numbers.set(documentId, number);
    return number;
  }

  #grow(): void {
    const capacity = Math.ceil(this.#documentOf.length * 1.5);
    this.#vectors = grown(this.#vectors, new Float32Array(capacity * this.#stride));
    this.#documentOf = grown(this.#documentOf, new Uint32Array(capacity));
    this.#ordinals = grown(this.#ordinals, new Uint32Array(capacity));
  }
}

/** Of equal ones the order is the same every time. */
export function isBefore(one: Candidate, other: Candidate): boolean {
  return one.documentId < other.documentId;
}

function grown<T extends Float32Array | Uint32Array>(from: T, to: T): T {
  to.set(from);
  return to;
}
