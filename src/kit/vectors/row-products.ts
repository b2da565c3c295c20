import { readFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';

type Numbers = Int8Array | Float32Array;

/** Vectors one after the other in one array, each in a row of its own with zeros at its end. */
export interface Rows<Row extends Numbers> {
  readonly numbers: Row;
  /** Numbers from one row to the next, as `strideOf` tells it. */
  readonly stride: number;
  readonly count: number;
}

interface Kernel {
  readonly memory: WebAssembly.Memory;
  readonly multiplyBytes: Multiply;
  readonly multiplyFloats: Multiply;
}

/** Addresses and sizes in bytes. */
type Multiply = (
  ...bytes: readonly [vector: number, stride: number, row: number, count: number, product: number]
) => void;

const blockBytes = 16;
const productBytes = 4;
const pageBytes = 65_536;
/** What is copied and multiplied at a time: it stays in the processor's cache. */
const sliceBytes = 1024 * 1024;
/** After so many slices other work of the process gets its turn; about 4 ms. */
const slicesOfTurn = 8;

const kernel = openKernel();

/** The numbers that a row takes: its dimensions and zeros up to a multiple of 16 bytes. */
export function strideOf(
  dimensions: number,
  { BYTES_PER_ELEMENT: bytes }: Pick<Numbers, 'BYTES_PER_ELEMENT'>,
): number {
  const block = blockBytes / bytes;
  return Math.ceil(dimensions / block) * block;
}

/**
 * Tells the product of the vector with each row, in their order. The array of the rows may grow or be
 * replaced meanwhile: those that were there at the start are multiplied.
 */
export async function eachProduct<Row extends Numbers>(
  { numbers, stride, count }: Rows<Row>,
  vector: Row,
  tell: (row: number, product: number) => void,
): Promise<void> {
  const sliceRows = Math.max(1, Math.floor(sliceBytes / (stride * numbers.BYTES_PER_ELEMENT)));
  let slices = 0;
  for (let first = 0; first < count; first += sliceRows) {
    if (slices > 0 && slices % slicesOfTurn === 0) await setImmediate();
    const rows = numbers.subarray(first * stride, Math.min(count, first + sliceRows) * stride);
    const products = multiply(rows, vector, stride);
    for (let at = 0; at < products.length; at += 1) tell(first + at, products[at] as number);
    slices += 1;
  }
}

/** Good until the next call. */
function multiply(rows: Numbers, vector: Numbers, stride: number): Int32Array | Float32Array {
  const count = rows.length / stride;
  const strideBytes = stride * rows.BYTES_PER_ELEMENT;
  const productAt = strideBytes + rows.byteLength;
  const { buffer } = withRoom(productAt + count * productBytes);
  const isBytes = rows instanceof Int8Array;
  const numbers = isBytes ? new Int8Array(buffer) : new Float32Array(buffer);
  numbers.fill(0, vector.length, stride);
  numbers.set(vector);
  numbers.set(rows, stride);
  const where = [0, strideBytes, strideBytes, count, productAt] as const;
  if (isBytes) kernel.multiplyBytes(...where);
  else kernel.multiplyFloats(...where);
  return isBytes
    ? new Int32Array(buffer, productAt, count)
    : new Float32Array(buffer, productAt, count);
}

function withRoom(bytes: number): WebAssembly.Memory {
  const missing = bytes - kernel.memory.buffer.byteLength;
  if (missing > 0) kernel.memory.grow(Math.ceil(missing / pageBytes));
  return kernel.memory;
}

function openKernel(): Kernel {
  const bytes = readFileSync(new URL('row-products.wasm', import.meta.url));
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes));
  // As row-products.wat exports them.
  return exports as unknown as Kernel;
}
