import { Fault } from '../../kit/errors.ts';

const nothing = Buffer.alloc(0);

/** Refuses a body that is no protobuf of the kind expected. */
export function malformed(what: string): never {
  throw new Fault('invalid', `The body is not a valid OTLP export: ${what}.`, {
    reason: 'malformed_protobuf',
  });
}

/**
 * Reads protobuf's wire format from `at` on. Every method that could leave the message it reads in
 * is given its end or is followed by `close`, which throws a Fault where the two disagree.
 */
export class Wire {
  bytes: Buffer = nothing;
  at = 0;

  /** Begins to read `body`, which must not change meanwhile. */
  open(body: Uint8Array): void {
    this.bytes = Buffer.isBuffer(body)
      ? body
      : Buffer.from(body.buffer, body.byteOffset, body.byteLength);
    this.at = 0;
  }

  /** Lets go of the body. */
  release(): void {
    this.bytes = nothing;
    this.at = 0;
  }

  /** The next varint, exact to 2^53; a byte that is missing counts as one that goes on. */
  varint(): number {
    const byte = this.bytes[this.at++] ?? 128;
    return byte < 128 ? byte : this.#moreOfVarint(byte & 127);
  }

  #moreOfVarint(low: number): number {
    const { bytes } = this;
    let byte = bytes[this.at++] ?? 128;
    if (byte < 128) return low | (byte << 7);
    const value = low | ((byte & 127) << 7);
    byte = bytes[this.at++] ?? 128;
    if (byte < 128) return value | (byte << 14);
    return this.#longVarint(value | ((byte & 127) << 14));
  }

  #longVarint(start: number): number {
    let value = start;
    let scale = 2_097_152;
    for (let rest = 7; rest > 0; rest -= 1) {
      const byte = this.bytes[this.at++] ?? 128;
      value += (byte & 127) * scale;
      if (byte < 128) return value;
      scale *= 128;
    }
    return malformed('a varint has more than ten bytes or is cut off');
  }

  /** The next field's number and wire type as one number. */
  tag(): number {
    const byte = this.bytes[this.at] ?? 0;
    if (byte < 8 || byte > 127) return this.#longTag();
    this.at += 1;
    return byte;
  }

  #longTag(): number {
    const tag = this.varint();
    if (tag < 8 || tag > 4_294_967_295) malformed('a field has an impossible number');
    return tag;
  }

  /** Where a length-delimited field that begins here ends; never beyond `end`. */
  length(end: number): number {
    const byte = this.bytes[this.at] ?? 128;
    if (byte > 127 || byte >= end - this.at) return this.#longLength(end);
    this.at += 1;
    return this.at + byte;
  }

  #longLength(end: number): number {
    const length = this.varint();
    if (length > end - this.at) malformed('a length leads beyond its message');
    return this.at + length;
  }

  /**
   * Steps over a field that is not known. One whose number is among the first `known` of its
   * message has the wrong wire type and is refused, and so are groups.
   */
  skip(tag: number, end: number, known: number): void {
    if (Math.floor(tag / 8) <= known) malformed('a field has the wrong wire type');
    this.stepOver(tag, end);
  }

  stepOver(tag: number, end: number): void {
    const type = tag & 7;
    if (type === 0) this.varint();
    else if (type === 1) this.at += 8;
    else if (type === 2) this.at = this.length(end);
    else if (type === 5) this.at += 4;
    else malformed('groups and unknown wire types are not accepted');
    if (this.at > end) malformed('a field leads beyond its message');
  }

  /** Ends a message: what was read of it must reach exactly to its end. */
  close(end: number): void {
    if (this.at !== end) malformed('a field leads beyond its message');
  }

  /** The next fixed64 as nanoseconds, in whole microseconds; exact below 2^53. */
  microseconds(): number {
    const high = this.#fixed32(this.at + 4);
    const low = this.#fixed32(this.at);
    this.at += 8;
    const thousands = (high / 1_000) >>> 0;
    const rest = (high - thousands * 1_000) * 4_294_967_296 + low;
    return thousands * 4_294_967_296 + Math.floor(rest / 1_000);
  }

  /** The next fixed64, exact. */
  fixed64(): bigint {
    const value = (BigInt(this.#fixed32(this.at + 4)) << 32n) | BigInt(this.#fixed32(this.at));
    this.at += 8;
    return value;
  }

  fixed32(): number {
    const value = this.#fixed32(this.at);
    this.at += 4;
    return value;
  }

  #fixed32(at: number): number {
    const { bytes } = this;
    const low = (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16);
    return (low | ((bytes[at + 3] ?? 0) << 24)) >>> 0;
  }

  double(): number {
    const isWhole = this.at + 8 <= this.bytes.length;
    const value = isWhole ? this.bytes.readDoubleLE(this.at) : 0;
    this.at += 8;
    return value;
  }

  /** The next varint as a signed 64-bit number, exact. */
  int64(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.bytes[this.at++] ?? 128;
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return BigInt.asIntN(64, value);
    }
    return malformed('a varint has more than ten bytes or is cut off');
  }

  /** The next varint as a signed 64-bit number; inexact beyond 2^53. */
  signed(): number {
    const from = this.at;
    const value = this.varint();
    if (value <= Number.MAX_SAFE_INTEGER) return value;
    this.at = from;
    return Number(this.int64());
  }

  /** Whether the bytes of `at` up to `end` are these. */
  isAt(wanted: Buffer, end: number): boolean {
    if (end - this.at !== wanted.length) return false;
    return this.bytes.compare(wanted, 0, wanted.length, this.at, end) === 0;
  }

  /** The bytes of `at` up to `end`, apart from the body. */
  copy(end: number): Uint8Array {
    const bytes = Uint8Array.prototype.slice.call(this.bytes, this.at, end);
    this.at = end;
    return bytes;
  }

  /** The bytes of `at` up to `end` in lower-case hexadecimal. */
  hex(end: number): string {
    const digits = this.bytes.toString('hex', this.at, end);
    this.at = end;
    return digits;
  }

  /** Text of `at` up to `end`; what is no UTF-8 becomes U+FFFD. */
  text(end: number): string {
    const text = this.bytes.toString('utf8', this.at, end);
    this.at = end;
    return text;
  }
}
