import { assert, constant, constantFrom, integer, oneof, property, tuple } from 'fast-check';
import { expect, test } from 'vitest';
import { fractionsOf, multiplesBetween, readStep } from './multiples.ts';
import { numberWithin } from './numbers.ts';
import { expressionOf } from './testing.ts';

test('of whole numbers, the multiples within the range are written and no others', () => {
  const end = integer({ min: -30_000, max: 30_000 });
  const low = oneof(end, constant(-Infinity));
  const high = oneof(end, constant(Infinity));
  const step = constantFrom(2, 4, 5, 10, 25, 40, 100, 125, 1_000);
  const near = integer({ min: -40_000, max: 40_000 });
  const check = (range: [number, number], size: number, number: number) => {
    const grammar = multiplesBetween(...range, size);
    for (const value of [number, Math.round(number / size) * size || 0]) {
      const isWritten = grammar !== undefined && expressionOf(grammar).test(`${value}`);
      const isWithin = value >= range[0] && value <= range[1];
      expect([value, isWritten]).toEqual([value, isWithin && value % size === 0]);
    }
  };
  assert(property(tuple(low, high), step, near, check), { numRuns: 300 });
});

test('steps that divide no power of ten are written where their multiples are few', () => {
  const quarters = expressionOf(multiplesBetween(0, 59, 15) ?? '');
  expect(['0', '15', '30', '45', '60', '5'].map((text) => quarters.test(text))).toEqual([
    true,
    true,
    true,
    true,
    false,
    false,
  ]);
  expect(multiplesBetween(0, 700, 7)).toBeUndefined();
  expect(multiplesBetween(-Infinity, Infinity, 3)).toBeUndefined();
  expect(multiplesBetween(1, 4, 5)).toBeUndefined();
});

test.each([
  [0.01, { minimum: 0 }, ['0', '0.01', '19.99', '100.5'], ['0.001', '-0.01', '1e2']],
  [0.1, { exclusiveMinimum: 0, maximum: 1 }, ['0.1', '1', '1.0'], ['0', '0.0', '1.1', '0.15']],
  [0.25, {}, ['0.25', '-3.50', '7'], ['0.2', '0.250', '-0']],
] as const)(
  'of numbers, multiples of %d are written with their digits',
  (size, schema, good, bad) => {
    const step = readStep(size);
    const fractions = step && fractionsOf(step);
    const expression = expressionOf(numberWithin(schema, fractions) ?? '');
    for (const text of good) expect([text, expression.test(text)]).toEqual([text, true]);
    for (const text of bad) expect([text, expression.test(text)]).toEqual([text, false]);
  },
);

test.each([0, -1, 1.5e-7, 1e10, '5', null])('%j is no step', (value) => {
  expect(readStep(value)).toBeUndefined();
});

test.each([1.5, 0.03, 2.5])('%d has too many endings', (value) => {
  const step = readStep(value);
  expect(step && fractionsOf(step)).toBeUndefined();
});
