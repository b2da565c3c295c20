import type { JsonSchema } from '../../inference/request.ts';
import { anyOf, wholeBetween } from './digits.ts';

/** Keywords that bound numbers. */
export const bounds = ['minimum', 'exclusiveMinimum', 'maximum', 'exclusiveMaximum'];

/** The bounds of an integer, both inclusive; those of all safe integers bound nothing. */
export function readRange(schema: JsonSchema) {
  const named = Object.fromEntries(
    bounds.flatMap((keyword) => {
      const value = schema[keyword];
      return isBound(value, keyword) ? [[keyword, value] as const] : [];
    }),
  );
  const { minimum = -Infinity, exclusiveMinimum = -Infinity } = named;
  const { maximum = Infinity, exclusiveMaximum = Infinity } = named;
  const low = Math.max(Math.ceil(minimum), Math.floor(exclusiveMinimum) + 1);
  const high = Math.min(Math.floor(maximum), Math.ceil(exclusiveMaximum) - 1);
  return { low, high, named };
}

function isBound(value: unknown, keyword: string): value is number {
  const outwards = /minimum/i.test(keyword) ? -1 : 1;
  return typeof value === 'number' && value * outwards < Number.MAX_SAFE_INTEGER;
}

/** An expression of the whole numbers in a range; undefined where there is none that is written. */
export function integerBetween(low: number, high: number): string | undefined {
  if (low === -Infinity && high === Infinity) return 'integer';
  const choices: string[] = [];
  const below = low < 0 ? wholeBetween(Math.max(1, -high), -low) : undefined;
  if (below !== undefined) choices.push(`"-" ${below}`);
  const above = wholeBetween(Math.max(0, low), high);
  if (above !== undefined) choices.push(above);
  return choices.length === 0 ? undefined : anyOf(choices);
}
