import { Fault } from '../../../kit/errors.ts';

/** Thrown when the bytes end before the header does; more of the file may hold the rest. */
export class OutOfBytes extends Error {
  override readonly name = 'OutOfBytes';
}

/** Walks little-endian values; never reads beyond its bytes. */
export class ByteCursor {
  readonly #bytes: Buffer;
  #offset = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get offset(): number {
    return this.#offset;
  }

  /** Goes on by this many bytes and answers where they begin; throws `OutOfBytes`. */
  take(count: number): number {
    const start = this.#offset;
    if (count > this.#bytes.length - start) throw new OutOfBytes('the bytes end here');
    this.#offset += count;
    return start;
  }

  uint8 = (): number => this.#bytes.readUInt8(this.take(1));
  int8 = (): number => this.#bytes.readInt8(this.take(1));
  uint16 = (): number => this.#bytes.readUInt16LE(this.take(2));
  int16 = (): number => this.#bytes.readInt16LE(this.take(2));
  uint32 = (): number => this.#bytes.readUInt32LE(this.take(4));
  int32 = (): number => this.#bytes.readInt32LE(this.take(4));
  float32 = (): number => this.#bytes.readFloatLE(this.take(4));
  float64 = (): number => this.#bytes.readDoubleLE(this.take(8));
  /** Above 2^53 the nearest number that there is. */
  int64 = (): number => Number(this.#bytes.readBigInt64LE(this.take(8)));
  /** Above 2^53 the nearest number that there is. */
  uint64 = (): number => Number(this.#bytes.readBigUInt64LE(this.take(8)));

  /** A count or a length; Fault `invalid` above the limit. */
  count(limit: number, what: string): number {
    const count = this.uint64();
    if (count <= limit) return count;
    throw badModelFile(`its header announces ${count} ${what}`);
  }

  /** Text with its length before it; what is no UTF-8 becomes replacement characters. */
  text(bytesMax: number): string {
    const length = this.count(bytesMax, 'bytes of text');
    const start = this.take(length);
    return this.#bytes.toString('utf8', start, start + length);
  }

  skipText(bytesMax: number): void {
    this.take(this.count(bytesMax, 'bytes of text'));
  }
}

/** The refusal of a file that is no sound GGUF file. */
export function badModelFile(why: string, cause?: unknown): Fault {
  return new Fault('invalid', `the file is no usable GGUF model: ${why}`, {
    cause,
    reason: 'bad_model_file',
  });
}
