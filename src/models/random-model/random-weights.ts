import { floats, type Tensor, type TensorType } from './gguf-encoding.ts';

/** The numbers that a block of `q8_0` holds, behind a scale of 16 bits. */
const blockLength = 32;
const blockBytes = 2 + blockLength;
const byteMax = 127;
/** A deviation of 3 among the logits makes answers varied, yet far from uniform. */
const outputDeviation = 3;

interface Rows {
  readonly columns: number;
  readonly rows: number;
}

/**
 * Draws the tensors of a model, one after the other, from one sequence of random numbers. Uniform values: only
 * multiplication, so every machine rounds them alike. Rows of `q8_0` have a multiple of 32 columns.
 */
export class WeightDrawer {
  readonly #type: TensorType;
  readonly #random = createRandom(seed);

  constructor(type: TensorType) {
    this.#type = type;
  }

  matrix(name: string, { columns, rows }: Rows): Tensor {
    const bytes = this.#draw(columns * rows, 1 / Math.sqrt(columns));
    return { name: `${name}.weight`, dimensions: [columns, rows], type: this.#type, bytes };
  }

  /** A matrix with weights in some of its rows only. */
  output(columns: number, isSpoken: readonly boolean[]): Tensor {
    const rowBytes = byteLength(this.#type, columns);
    const bytes = Buffer.alloc(isSpoken.length * rowBytes);
    for (const [row, isDrawn] of isSpoken.entries()) {
      if (isDrawn)
        bytes.set(this.#draw(columns, outputDeviation / Math.sqrt(columns)), row * rowBytes);
    }
    const dimensions = [columns, isSpoken.length];
    return { name: 'output.weight', dimensions, type: this.#type, bytes };
  }

  #draw(count: number, deviation: number): Uint8Array {
    const reach = deviation * Math.sqrt(3);
    if (this.#type === 'q8_0') return this.#drawBlocks(count, reach);
    return floats(Float32Array.from({ length: count }, () => (this.#random() * 2 - 1) * reach));
  }

  #drawBlocks(count: number, reach: number): Uint8Array {
    const bytes = Buffer.alloc(byteLength('q8_0', count));
    const scale = toHalf(reach / byteMax);
    for (let offset = 0; offset < bytes.length; offset += blockBytes) {
      bytes.writeUInt16LE(scale, offset);
      for (let i = 2; i < blockBytes; i++) {
        bytes.writeInt8(Math.floor(this.#random() * (2 * byteMax + 1)) - byteMax, offset + i);
      }
    }
    return bytes;
  }
}

/** A tensor of ones. */
export function norm(name: string, width: number): Tensor {
  const bytes = floats(new Float32Array(width).fill(1));
  return { name: `${name}.weight`, dimensions: [width], type: 'f32', bytes };
}

function byteLength(type: TensorType, count: number): number {
  return type === 'q8_0' ? (count / blockLength) * blockBytes : count * 4;
}

/** The bits of a positive number as IEEE 754 half, cut; it must be a normal one (at least 2^-14). */
function toHalf(value: number): number {
  const exponent = Math.floor(Math.log2(value));
  return ((exponent + 15) << 10) | Math.floor((value / 2 ** exponent - 1) * 1024);
}

const seed = 0x9e3779b9;

/** The generator mulberry32: 32 bits of state, the same sequence everywhere. */
function createRandom(start: number): () => number {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
