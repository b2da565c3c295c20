/** Bytes of a buffer that are not copied. */
export interface Stretch {
  readonly bytes: Buffer;
  readonly from: number;
  readonly length: number;
}

const copiedOneByOne = 24;

/** Writes numbers and texts one after the other. */
export class ByteWriter {
  #bytes = Buffer.allocUnsafe(1_024);
  #at = 0;

  get length(): number {
    return this.#at;
  }

  /** What was written; valid until something else is. */
  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#at);
  }

  clear(): void {
    this.#at = 0;
  }

  byte(value: number): void {
    this.#reserve(1);
    this.#bytes[this.#at] = value;
    this.#at += 1;
  }

  /** A whole number from 0 to 2^53, seven bits a byte, the lowest first (LEB128). */
  varint(value: number): void {
    this.#reserve(8);
    let rest = value;
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) {
      this.#bytes[this.#at] = (rest % 0x80) | 0x80;
      this.#at += 1;
    }
    this.#bytes[this.#at] = rest;
    this.#at += 1;
  }

  /** A whole number between -2^52 and 2^52: small ones of either sign are short. */
  signed(value: number): void {
    this.varint(value < 0 ? -2 * value - 1 : 2 * value);
  }

  float(value: number): void {
    this.#reserve(8);
    this.#at = this.#bytes.writeDoubleBE(value, this.#at);
  }

  /** Its length in UTF-8, as a varint, then its bytes. */
  text(value: string): void {
    const length = Buffer.byteLength(value);
    this.varint(length);
    this.#reserve(length);
    this.#at += this.#bytes.write(value, this.#at, length);
  }

  append(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  /** Bytes of another buffer; short stretches are copied faster one by one. */
  copy(source: Buffer, from: number, end: number): void {
    const length = end - from;
    this.#reserve(length);
    if (length > copiedOneByOne) source.copy(this.#bytes, this.#at, from, end);
    else for (let at = 0; at < length; at += 1) this.#bytes[this.#at + at] = source[from + at] ?? 0;
    this.#at += length;
  }

  /** A whole number below 2^32, the lowest byte first. */
  fixed32(value: number): void {
    this.#reserve(4);
    this.#at = this.#bytes.writeUInt32LE(value, this.#at);
  }

  /** Leaves out so many bytes, to be written later; answers where they begin. */
  leave(count: number): number {
    this.#reserve(count);
    this.#at += count;
    return this.#at - count;
  }

  /** Writes a whole number below 2^35 where five bytes were left, seven bits a byte, the lowest first. */
  fillVarint(at: number, value: number): void {
    let rest = value;
    for (let byte = 0; byte < 4; byte += 1) {
      this.#bytes[at + byte] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#bytes[at + 4] = rest;
  }

  /** Forgets what was written from there on. */
  cutTo(length: number): void {
    this.#at = length;
  }

  /** Whether the bytes that begin there are those of another buffer. */
  has(at: number, { bytes, from, length }: Stretch): boolean {
    let same = 0;
    while (same < length && this.#bytes[at + same] === bytes[from + same]) same += 1;
    return same === length;
  }

  /** A copy of what was written, with memory of its own. */
  finish(): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.bytes);
  }

  #reserve(count: number): void {
    if (this.#at + count <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(2 * (this.#at + count));
    larger.set(this.bytes);
    this.#bytes = larger;
  }
}

/** Reads what `ByteWriter` wrote. */
export class ByteReader {
  readonly #bytes: Buffer;
  readonly #view: DataView;
  at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = asBuffer(bytes);
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get isOver(): boolean {
    return this.at >= this.#bytes.length;
  }

  byte(): number {
    const value = this.#bytes[this.at] ?? 0;
    this.at += 1;
    return value;
  }

  varint(): number {
    let value = 0;
    let scale = 1;
    for (;;) {
      const byte = this.byte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 0x80;
    }
  }

  signed(): number {
    const value = this.varint();
    return value % 2 === 1 ? -(value + 1) / 2 : value / 2;
  }

  float(): number {
    const value = this.#view.getFloat64(this.at);
    this.at += 8;
    return value;
  }

  /** Whole numbers of fixed width, the highest byte first, as PostgreSQL sends them. */
  int16(): number {
    const value = this.#view.getInt16(this.at);
    this.at += 2;
    return value;
  }

  int32(): number {
    const value = this.#view.getInt32(this.at);
    this.at += 4;
    return value;
  }

  int64(): number {
    const value = Number(this.#view.getBigInt64(this.at));
    this.at += 8;
    return value;
  }

  text(): string {
    const length = this.varint();
    const from = this.at;
    this.at += length;
    return this.#bytes.toString('utf8', from, this.at);
  }

  take(length: number): Uint8Array {
    const bytes = this.#bytes.subarray(this.at, this.at + length);
    this.at += length;
    return bytes;
  }
}

/** The same bytes as a Buffer; nothing is copied. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
