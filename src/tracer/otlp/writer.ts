const maxRetained = 4_194_304;

/**
 * Writes protobuf's wire format. A field whose value is the default of its type is written too:
 * leaving it out is for the caller to decide.
 */
export class ProtoWriter {
  #bytes = Buffer.allocUnsafe(4_096);
  #length = 0;

  /** What was written since the last call. */
  take(): Uint8Array {
    const written = Buffer.from(this.#bytes.subarray(0, this.#length));
    this.#length = 0;
    if (this.#bytes.length > maxRetained) this.#bytes = Buffer.allocUnsafe(4_096);
    return written;
  }

  /** A length-delimited field that holds what `write` writes. */
  message(field: number, write: () => void): void {
    this.#varint(field * 8 + 2);
    const from = this.#length;
    this.#room(1);
    this.#length += 1;
    write();
    this.#setLength(from, this.#length - from - 1);
  }

  /** Puts a length in front of what was written; one byte of room was left for it. */
  #setLength(from: number, length: number): void {
    const extra = sizeOf(length) - 1;
    this.#room(extra + 10);
    if (extra > 0) this.#bytes.copyWithin(from + 1 + extra, from + 1, this.#length);
    const end = this.#length + extra;
    this.#length = from;
    this.#varint(length);
    this.#length = end;
  }

  text(field: number, value: string): void {
    this.#varint(field * 8 + 2);
    const size = Buffer.byteLength(value);
    this.#varint(size);
    this.#room(size);
    this.#length += this.#bytes.write(value, this.#length, 'utf8');
  }

  bytes(field: number, value: Uint8Array): void {
    this.#varint(field * 8 + 2);
    this.#varint(value.length);
    this.#room(value.length);
    this.#bytes.set(value, this.#length);
    this.#length += value.length;
  }

  /** A whole number of 0 to 2^53. */
  unsigned(field: number, value: number): void {
    this.#varint(field * 8);
    this.#varint(value);
  }

  int64(field: number, value: bigint): void {
    this.#varint(field * 8);
    if (value >= 0n && value <= 9_007_199_254_740_991n) this.#varint(Number(value));
    else this.#longVarint(BigInt.asUintN(64, value));
  }

  fixed32(field: number, value: number): void {
    this.#varint(field * 8 + 5);
    this.#room(4);
    this.#length = this.#bytes.writeUInt32LE(value >>> 0, this.#length);
  }

  fixed64(field: number, value: bigint): void {
    this.#varint(field * 8 + 1);
    this.#room(8);
    this.#length = this.#bytes.writeBigUInt64LE(BigInt.asUintN(64, value), this.#length);
  }

  double(field: number, value: number): void {
    this.#varint(field * 8 + 1);
    this.#room(8);
    this.#length = this.#bytes.writeDoubleLE(value, this.#length);
  }

  #varint(value: number): void {
    this.#room(10);
    let rest = value;
    while (rest > 127) {
      this.#bytes[this.#length++] = (rest % 128) | 128;
      rest = Math.floor(rest / 128);
    }
    this.#bytes[this.#length++] = rest;
  }

  #longVarint(value: bigint): void {
    this.#room(10);
    let rest = value;
    while (rest > 127n) {
      this.#bytes[this.#length++] = Number(rest & 127n) | 128;
      rest >>= 7n;
    }
    this.#bytes[this.#length++] = Number(rest);
  }

  #room(size: number): void {
    if (this.#length + size <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.#length + size));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}

function sizeOf(length: number): number {
  let size = 1;
  for (let rest = length; rest > 127; rest = Math.floor(rest / 128)) size += 1;
  return size;
}
