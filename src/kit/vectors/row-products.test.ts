import { expect, test } from 'vitest';
import { eachProduct, strideOf } from './row-products.ts';

/** Numbers that look random and are the same each time. */
function createNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296 - 0.5;
  };
}

type Numbers = Int8Array | Float32Array;

function fill(numbers: Numbers, next: () => number, { count, stride, dimensions }: Shape): void {
  for (let row = 0; row < count; row += 1) {
    for (let at = 0; at < dimensions; at += 1) {
      numbers[row * stride + at] = numbers instanceof Int8Array ? Math.round(next() * 255) : next();
    }
  }
}

interface Shape {
  readonly count: number;
  readonly stride: number;
  readonly dimensions: number;
}

const plain = (row: Numbers, vector: Numbers) => {
  let sum = 0;
  for (let at = 0; at < vector.length; at += 1) sum += (row[at] ?? 0) * (vector[at] ?? 0);
  return sum;
};

const shapes = [
  { dimensions: 1, count: 3 },
  { dimensions: 16, count: 1 },
  { dimensions: 100, count: 12_000 },
  { dimensions: 128, count: 20_000 },
  { dimensions: 500_001, count: 3 },
  { dimensions: 384, count: 0 },
];

test.each(shapes)(
  'of $count rows of $dimensions it tells what a plain loop does',
  async (shape) => {
    const { dimensions, count } = shape;
    for (const Kind of [Int8Array, Float32Array]) {
      const next = createNumbers(dimensions);
      const stride = strideOf(dimensions, Kind);
      const numbers = new Kind(count * stride);
      const vector = new Kind(dimensions);
      fill(numbers, next, { count, stride, dimensions });
      fill(vector, next, { count: 1, stride, dimensions });
      const [told, order]: [number[], number[]] = [[], []];
      await eachProduct<Numbers>({ numbers, stride, count }, vector, (row, product) => {
        order.push(row);
        told.push(product);
      });
      expect(order).toEqual(Array.from({ length: count }, (_, row) => row));
      const wrong = told.filter((product, row) => {
        const expected = plain(numbers.subarray(row * stride, row * stride + dimensions), vector);
        return Math.abs(product - expected) > (Kind === Int8Array ? 0 : 1e-2);
      });
      expect(wrong).toEqual([]);
    }
  },
);

test('the greatest 8-bit numbers do not overflow, and leave nothing for the next vector', async () => {
  const dimensions = 40;
  const stride = strideOf(dimensions, Int8Array);
  const numbers = new Int8Array(stride).fill(-128, 0, dimensions);
  const tell: number[] = [];
  const rows = { numbers, stride, count: 1 };
  await eachProduct(rows, new Int8Array(dimensions).fill(-128), (_, product) => tell.push(product));
  await eachProduct(rows, Int8Array.of(1), (_, product) => tell.push(product));
  expect(tell).toEqual([dimensions * 128 * 128, -128]);
});
