import { Best } from '../../kit/vectors/best.ts';
import { eachProduct, strideOf } from '../../kit/vectors/row-products.ts';
import type { SearchRequest } from './search.ts';
import type { MessageVectors } from './vectors-store.ts';

/** A message whose meaning is close to what was asked. */
export interface Near {
  readonly messageId: string;
  readonly createdAtMs: number;
  /** Of its closest passage. */
  readonly score: number;
  readonly passage: number;
}

export interface Span {
  /** Unix milliseconds, both included. */
  readonly fromMs: number;
  readonly toMs: number;
}

/** The span of a search; all times where it names none. */
export function spanOf({ from, to }: Pick<SearchRequest, 'from' | 'to'>): Span {
  return { fromMs: from?.getTime() ?? 0, toMs: to?.getTime() ?? 253_402_300_799_999 };
}

/** Bytes that a message takes beside its vectors, about. */
const messageBytes = 200;

/**
 * One owner's vectors in one array of 8-bit numbers, searched from end to end. Rows are only appended,
 * and a removed message's rows are skipped, so that a search that pauses sees nothing change under it.
 */
export class OwnerIndex {
  readonly #dimensions: number;
  readonly #stride: number;
  #vectors: Int8Array;
  /** One by the length of each row's vector. */
  #scales: Float32Array;
  /** The number of each row's message. */
  #messageOf: Uint32Array;
  #rowCount = 0;
  readonly #ids: (string | undefined)[] = [];
  readonly #createdAtMs: number[] = [];
  /** The first row of each message. */
  readonly #firstRow: number[] = [];
  readonly #conversations: string[] = [];
  readonly #numbers = new Map<string, number>();

  constructor(dimensions: number) {
    this.#dimensions = dimensions;
    this.#stride = strideOf(dimensions, Int8Array);
    this.#vectors = new Int8Array(16 * this.#stride);
    this.#scales = new Float32Array(16);
    this.#messageOf = new Uint32Array(16);
  }

  get size(): number {
    return this.#numbers.size;
  }

  get bytes(): number {
    const rows = this.#vectors.byteLength + this.#scales.byteLength + this.#messageOf.byteLength;
    return rows + this.#ids.length * messageBytes;
  }

  /** Messages that were removed, as a part of all that it ever held, 0..1. */
  get waste(): number {
    return this.#ids.length === 0 ? 0 : 1 - this.#numbers.size / this.#ids.length;
  }

  /** Nothing happens when it has the message, or when the message has no vector. */
  add({ messageId, conversationId, createdAtMs, vectors }: MessageVectors): void {
    const passages = Math.floor(vectors.length / this.#dimensions);
    if (passages === 0 || this.#numbers.has(messageId)) return;
    while (this.#rowCount + passages > this.#messageOf.length) this.#grow();
    const number = this.#ids.push(messageId) - 1;
    this.#numbers.set(messageId, number);
    this.#createdAtMs.push(createdAtMs);
    this.#conversations.push(conversationId);
    this.#firstRow.push(this.#rowCount);
    for (let passage = 0; passage < passages; passage += 1) {
      const from = passage * this.#dimensions;
      this.#addRow(number, vectors.subarray(from, from + this.#dimensions));
    }
  }

  /** Forgets a conversation's messages. */
  remove(conversationId: string): void {
    for (const [number, own] of this.#conversations.entries()) {
      const id = own === conversationId ? this.#ids[number] : undefined;
      if (id === undefined) continue;
      this.#numbers.delete(id);
      this.#ids[number] = undefined;
    }
  }

  /** The closest messages, the closest first. */
  async search(vector: Int8Array, limit: number, { fromMs, toMs }: Span): Promise<Near[]> {
    const { scores, rows } = await this.#score(vector);
    const best = new Best<Near>(limit, (one, other) => one.createdAtMs > other.createdAtMs);
    for (let number = 0; number < scores.length; number += 1) {
      const score = scores[number] ?? -1;
      if (score <= best.least) continue;
      const messageId = this.#ids[number];
      const createdAtMs = this.#createdAtMs[number] ?? 0;
      if (messageId === undefined || createdAtMs < fromMs || createdAtMs > toMs) continue;
      const passage = (rows[number] ?? 0) - (this.#firstRow[number] ?? 0);
      best.offer({ messageId, createdAtMs, score, passage });
    }
    return best.sorted();
  }

  /** One message's closeness; undefined when it is not known here. */
  near(messageId: string, vector: Int8Array): Near | undefined {
    const number = this.#numbers.get(messageId);
    if (number === undefined) return undefined;
    const first = this.#firstRow[number] ?? 0;
    const scale = scaleOf(vector);
    let best: Near | undefined;
    for (let row = first; this.#messageOf[row] === number && row < this.#rowCount; row += 1) {
      const product = multiply(this.#vectors, row * this.#stride, vector);
      const score = product * scale * (this.#scales[row] ?? 0);
      if (best && best.score >= score) continue;
      const createdAtMs = this.#createdAtMs[number] ?? 0;
      best = { messageId, createdAtMs, score, passage: row - first };
    }
    return best;
  }

  /** The best score of each message and the row that has it. */
  async #score(vector: Int8Array) {
    const scales = this.#scales;
    const messageOf = this.#messageOf;
    const scale = scaleOf(vector);
    const scores = new Float32Array(this.#ids.length).fill(-2);
    const rows = new Uint32Array(this.#ids.length);
    const stored = { numbers: this.#vectors, stride: this.#stride, count: this.#rowCount };
    await eachProduct(stored, vector, (row, product) => {
      const score = product * scale * (scales[row] ?? 0);
      const number = messageOf[row] ?? 0;
      if (score <= (scores[number] ?? 2)) return;
      scores[number] = score;
      rows[number] = row;
    });
    return { scores, rows };
  }

  #addRow(number: number, vector: Int8Array): void {
    const row = this.#rowCount;
    this.#vectors.set(vector, row * this.#stride);
    this.#scales[row] = scaleOf(vector);
    this.#messageOf[row] = number;
    this.#rowCount += 1;
  }

  #grow(): void {
    const capacity = Math.ceil(this.#messageOf.length * 1.5);
    this.#vectors = grown(this.#vectors, new Int8Array(capacity * this.#stride));
    this.#scales = grown(this.#scales, new Float32Array(capacity));
    this.#messageOf = grown(this.#messageOf, new Uint32Array(capacity));
  }
}

/** A vector of any length in 8-bit numbers; only its direction is kept. */
export function quantise(vector: Float32Array): Int8Array {
  let most = 0;
  for (const value of vector) most = Math.max(most, Math.abs(value));
  return Int8Array.from(vector, (value) => (most === 0 ? 0 : Math.round((value / most) * 127)));
}

/** One by a vector's length; 0 of one without direction. */
function scaleOf(vector: Int8Array): number {
  const square = multiply(vector, 0, vector);
  return square === 0 ? 0 : 1 / Math.sqrt(square);
}

function multiply(vectors: Int8Array, offset: number, vector: Int8Array): number {
  let sum = 0;
  for (let at = 0; at < vector.length; at += 1) {
    // Both are within their arrays: nothing is undefined here, and a check would cost most.
    sum = (sum + (vectors[offset + at] as number) * (vector[at] as number)) | 0;
  }
  return sum;
}

function grown<T extends Int8Array | Float32Array | Uint32Array>(from: T, to: T): T {
  to.set(from);
  return to;
}
