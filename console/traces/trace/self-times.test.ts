import { expect, test } from 'vitest';
import { selfTimesOf } from './self-times.ts';
import { layOutRows } from './span-rows.ts';

interface Spelled {
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly offsetUs: number;
  readonly durationUs: number;
}

function selfOf(...spans: Spelled[]): Record<string, number> {
  return Object.fromEntries(selfTimesOf(layOutRows(spans)));
}

const root = { spanId: 'a', offsetUs: 0, durationUs: 100 };

test('a span without children is at work all of its time', () => {
  expect(selfOf(root)).toEqual({ a: 100 });
});

test('children that run side by side cover their time once', () => {
  expect(
    selfOf(
      root,
      { spanId: 'b', parentSpanId: 'a', offsetUs: 10, durationUs: 40 },
      { spanId: 'c', parentSpanId: 'a', offsetUs: 30, durationUs: 30 },
      { spanId: 'd', parentSpanId: 'a', offsetUs: 35, durationUs: 5 },
    ),
  ).toEqual({ a: 50, b: 40, c: 30, d: 5 });
});

test('what a child does before and after its parent covers nothing of it', () => {
  expect(
    selfOf(
      root,
      { spanId: 'b', parentSpanId: 'a', offsetUs: -20, durationUs: 30 },
      { spanId: 'c', parentSpanId: 'a', offsetUs: 90, durationUs: 500 },
    ).a,
  ).toBe(80);
});
