import type { JsonSchema } from '../../inference/request.ts';
import { anyOf, wholeBetween, wholeMax } from './digits.ts';
import { bounds } from './integers.ts';
import { decimalFractions, type Fractions } from './multiples.ts';

/** Beyond it the digits behind the point could be rounded to the bound itself. */
const boundMax = 1_000_000_000;

/** The first bound that `numberWithin` cannot hold: one that is no whole number, or too large. */
export function firstOddBound(schema: JsonSchema): string | undefined {
  return bounds.find((keyword) => {
    const value = schema[keyword];
    if (value === undefined || isFar(value, keyword)) return false;
    return !(Number.isInteger(value) && Math.abs(value as number) <= boundMax);
  });
}

/** Whether the bound lies beyond all that is written, as those of a 32-bit number do. */
function isFar(value: unknown, keyword: string): boolean {
  const outwards = /minimum/i.test(keyword) ? -1 : 1;
  return typeof value === 'number' && value * outwards > wholeMax + 1;
}

/**
 * An expression of the numbers within a schema's bounds, all whole, with these fractions; undefined where
 * there is none.
 */
export function numberWithin(schema: JsonSchema, given?: Fractions): string | undefined {
  const isUnbounded = bounds.every((keyword) => schema[keyword] === undefined);
  if (isUnbounded && !given) return 'number';
  const fractions = given ?? decimalFractions(6);
  const of = (keyword: string) => (isFar(schema[keyword], keyword) ? undefined : schema[keyword]);
  const low = edge(of('minimum'), of('exclusiveMinimum'), Math.max);
  const high = edge(of('maximum'), of('exclusiveMaximum'), Math.min);
  const between = (from: Edge, to: Edge) => magnitudes(from, to, fractions);
  const choices = [
    ...signed('"-" ', between(aboveZero(mirrored(high)), mirrored(low))),
    ...signed('', between(low.value < 0 ? { value: 0, isOpen: false } : low, high)),
  ];
  return choices.length === 0 ? undefined : anyOf(choices);
}

/** One end of a range; open when it is not part of it. */
interface Edge {
  readonly value: number;
  readonly isOpen: boolean;
}

/** The narrower of two bounds; without any, the range has no end there. */
function edge(closed: unknown, open: unknown, narrower: typeof Math.max): Edge {
  const none = narrower === Math.max ? -Infinity : Infinity;
  const [atMost = none, short = none] = [closed as number | undefined, open as number | undefined];
  const value = narrower(atMost, short);
  return { value, isOpen: value === short && short !== none };
}

function mirrored({ value, isOpen }: Edge): Edge {
  return { value: -value, isOpen };
}

/** Zero has no sign here. */
function aboveZero(low: Edge): Edge {
  return low.value > 0 ? low : { value: 0, isOpen: true };
}

function signed(sign: string, expressions: readonly string[]): string[] {
  return expressions.map((expression) => sign + expression);
}

/** The numbers between two that are not below 0. */
function magnitudes(low: Edge, high: Edge, { any, nothing, something }: Fractions): string[] {
  if (low.value > high.value) return [];
  if (low.value === high.value)
    return low.isOpen || high.isOpen ? [] : [`"${low.value}" ${nothing}`];
  const from = low.isOpen ? low.value + 1 : low.value;
  const between = wholeBetween(from, high.value - 1);
  return [
    ...(low.isOpen ? [`"${low.value}" ${something}`] : []),
    ...(between === undefined ? [] : [`${between} ${any}`]),
    ...(high.isOpen || high.value === Infinity ? [] : [`"${high.value}" ${nothing}`]),
  ];
}
