import type { JsonSchema } from '../../inference/request.ts';
import { anyOf, wholeBetween } from './digits.ts';
import { bounds } from './integers.ts';

/** Beyond it the digits behind the point could be rounded to the bound itself. */
const boundMax = 1_000_000_000;

/** The first bound that `numberWithin` cannot hold: one that is no whole number, or too large. */
export function firstOddBound(schema: JsonSchema): string | undefined {
  return bounds.find((keyword) => {
    const value = schema[keyword];
    return (
      value !== undefined && !(Number.isInteger(value) && Math.abs(value as number) <= boundMax)
    );
  });
}

/** An expression of the numbers within a schema's bounds, all whole; undefined where there is none. */
export function numberWithin(schema: JsonSchema): string | undefined {
  if (bounds.every((keyword) => schema[keyword] === undefined)) return 'number';
  const low = edge(schema['minimum'], schema['exclusiveMinimum'], Math.max);
  const high = edge(schema['maximum'], schema['exclusiveMaximum'], Math.min);
  const choices = [
    ...signed('"-" ', magnitudes(aboveZero(mirrored(high)), mirrored(low))),
    ...signed('', magnitudes(low.value < 0 ? { value: 0, isOpen: false } : low, high)),
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

const fraction = '( "." [0-9]{1,6} )?';
const nothing = '( "." "0"{1,6} )?';
const something = '"." [0-9]{0,5} [1-9]';

/** The numbers between two that are not below 0. */
function magnitudes(low: Edge, high: Edge): string[] {
  if (low.value > high.value) return [];
  if (low.value === high.value)
    return low.isOpen || high.isOpen ? [] : [`"${low.value}" ${nothing}`];
  const from = low.isOpen ? low.value + 1 : low.value;
  const between = wholeBetween(from, high.value - 1);
  return [
    ...(low.isOpen ? [`"${low.value}" ${something}`] : []),
    ...(between === undefined ? [] : [`${between} ${fraction}`]),
    ...(high.isOpen || high.value === Infinity ? [] : [`"${high.value}" ${nothing}`]),
  ];
}
