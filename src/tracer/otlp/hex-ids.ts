import type { SpanHead } from '../trace/span.ts';

const pairs = hexPairs();

function hexPairs(): Uint16Array {
  const bytes = Buffer.alloc(512);
  for (let byte = 0; byte < 256; byte += 1)
    bytes.write(byte.toString(16).padStart(2, '0'), byte * 2, 'latin1');
  return new Uint16Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + 512));
}

/** A head whose ids are still to be filled in. */
export type HeadWithoutIds = { -readonly [Field in keyof SpanHead]: SpanHead[Field] };

/** Where a span's ids begin. */
export interface IdPlaces {
  readonly traceAt: number;
  readonly spanAt: number;
  /** Below 0 where it has no parent. */
  readonly parentAt: number;
}

const isNewTrace = 1;
const isChild = 2;

/**
 * Collects the ids of a body's spans and makes one string of all, of which each head gets its
 * parts: a string made for each would take longer than all the rest of a scan.
 */
export class HexIds {
  #digits = new Uint16Array(4_096);
  #length = 0;
  #flags: number[] = [];
  #traceAt = -1;

  /** Forgets what was collected. */
  clear(): void {
    this.#length = 0;
    this.#flags = [];
    this.#traceAt = -1;
    if (this.#digits.length > 1_048_576) this.#digits = new Uint16Array(4_096);
  }

  /** Adds a span's; those of one body come one after another, then `give` is called. */
  add(bytes: Buffer, { traceAt, spanAt, parentAt }: IdPlaces): void {
    if (this.#length + 32 > this.#digits.length) this.#grow();
    let flags = 0;
    if (!this.#isLast(bytes, traceAt)) {
      flags = isNewTrace;
      this.#write(bytes, traceAt, 16);
      this.#traceAt = traceAt;
    }
    this.#write(bytes, spanAt, 8);
    if (parentAt >= 0) {
      flags |= isChild;
      this.#write(bytes, parentAt, 8);
    }
    this.#flags.push(flags);
  }

  #isLast(bytes: Buffer, traceAt: number): boolean {
    const last = this.#traceAt;
    if (last < 0) return false;
    for (let at = 0; at < 16; at += 1) if (bytes[last + at] !== bytes[traceAt + at]) return false;
    return true;
  }

  #write(bytes: Buffer, from: number, count: number): void {
    const digits = this.#digits;
    const to = this.#length;
    for (let at = 0; at < count; at += 1) digits[to + at] = pairs[bytes[from + at] ?? 0] ?? 0;
    this.#length = to + count;
  }

  /** Gives each head its ids; the heads stand in the order in which the ids were added. */
  give(heads: readonly HeadWithoutIds[]): void {
    const { buffer, byteOffset } = this.#digits;
    const digits = Buffer.from(buffer, byteOffset, this.#length * 2).toString('latin1');
    let at = 0;
    let traceId = '';
    for (let index = 0; index < heads.length; index += 1) {
      const head = heads[index];
      const flags = this.#flags[index] ?? 0;
      if (!head) break;
      if ((flags & isNewTrace) !== 0) {
        traceId = digits.slice(at, at + 32);
        at += 32;
      }
      head.traceId = traceId;
      head.spanId = digits.slice(at, at + 16);
      at += 16;
      if ((flags & isChild) !== 0) {
        head.parentSpanId = digits.slice(at, at + 16);
        at += 16;
      }
    }
  }

  #grow(): void {
    const larger = new Uint16Array(this.#digits.length * 2);
    larger.set(this.#digits);
    this.#digits = larger;
  }
}
