import { expect, test } from 'vitest';
import { readJsonLines } from './json-lines.ts';

function streamOf(...pieces: readonly Uint8Array<ArrayBuffer>[]) {
  return new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
}

async function read(...pieces: readonly string[]): Promise<readonly unknown[]> {
  const encoder = new TextEncoder();
  return collect(readJsonLines(streamOf(...pieces.map((one) => encoder.encode(one)))));
}

async function collect(values: AsyncIterable<unknown>): Promise<readonly unknown[]> {
  const all: unknown[] = [];
  for await (const value of values) all.push(value);
  return all;
}

test('lines are values, wherever the stream is cut', async () => {
  expect(await read('{"a":1}\n{"a"', ':2}\n\n', '{"a":3}')).toEqual([{ a: 1 }, { a: 2 }, { a: 3 }]);
  expect(await read()).toEqual([]);
});

test('a character may be cut in two', async () => {
  const bytes = new TextEncoder().encode('"é"\n');
  const values = readJsonLines(streamOf(bytes.slice(0, 2), bytes.slice(2)));
  expect(await collect(values)).toEqual(['é']);
});

test('what is no JSON is an error', async () => {
  await expect(read('{"a":1}\nno\n')).rejects.toThrow(SyntaxError);
});
