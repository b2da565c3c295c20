import {
  assert,
  constant,
  constantFrom,
  integer,
  oneof,
  option,
  property,
  record,
  tuple,
} from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonSchema } from '../../inference/request.ts';
import { charactersBetween } from './lengths.ts';
import { integerBetween } from './integers.ts';
import { numberWithin } from './numbers.ts';
import { expressionOf } from './testing.ts';

const end = (limit: number) =>
  oneof(integer({ min: -limit, max: limit }), constantFrom(-10, 0, 1, 9, 10, 99, 100));

test('of integers, those of the range are written and no others', () => {
  const ends = tuple(oneof(end(2_000), constant(-Infinity)), oneof(end(2_000), constant(Infinity)));
  const check = ([low, high]: [number, number], value: number) => {
    const grammar = integerBetween(low, high);
    const isWritten = grammar !== undefined && expressionOf(grammar).test(`${value}`);
    expect(isWritten).toBe(value >= low && value <= high);
  };
  assert(property(ends, end(3_000), check), { numRuns: 2_000 });
});

test.each([
  [-2_147_483_648, 2_147_483_647],
  [0, 4_294_967_295],
  [1, 65_535],
])('%d to %d is exact at both ends', (low, high) => {
  const expression = expressionOf(integerBetween(low, high) ?? '');
  const fits = (value: number) => expression.test(`${value}`);
  expect([low - 1, low, high, high + 1].map(fits)).toEqual([false, true, true, false]);
});

test('of numbers, those within the bounds are written and no others', () => {
  const bound = option(integer({ min: -30, max: 30 }), { nil: undefined });
  const bounds = record({
    minimum: bound,
    exclusiveMinimum: bound,
    maximum: bound,
    exclusiveMaximum: bound,
  });
  const isWithin = (schema: Readonly<Record<string, number | undefined>>, value: number) =>
    value >= (schema['minimum'] ?? -Infinity) &&
    value <= (schema['maximum'] ?? Infinity) &&
    value > (schema['exclusiveMinimum'] ?? -Infinity) &&
    value < (schema['exclusiveMaximum'] ?? Infinity);
  const check = (schema: JsonSchema & Record<string, number | undefined>, tenths: number) => {
    const grammar = numberWithin(schema);
    if (grammar === 'number') return;
    const isWritten = grammar !== undefined && expressionOf(grammar).test(`${tenths / 10}`);
    expect(isWritten).toBe(isWithin(schema, tenths / 10));
  };
  assert(property(bounds, integer({ min: -400, max: 400 }), check), { numRuns: 2_000 });
});

test.each([
  [0, 2_500],
  [1_500, 3_200],
  [2_000, 2_000],
  [1_200, undefined],
])('texts of %d to %s characters are exact at both ends', (least, most) => {
  const expression = expressionOf(charactersBetween(least, most));
  const fits = (count: number) => expression.test('x'.repeat(count));
  expect(fits(least)).toBe(true);
  if (least > 0) expect(fits(least - 1)).toBe(false);
  expect(fits(most ?? 9_000)).toBe(true);
  if (most !== undefined) expect(fits(most + 1)).toBe(false);
});
