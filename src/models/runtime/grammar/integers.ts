import type { JsonSchema } from '../../inference/request.ts';

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

/** An expression of the whole numbers in a range; undefined where it would grow too long. */
export function integerBetween(low: number, high: number): string | undefined {
  if (low > high) return undefined;
  if (low === -Infinity && high === Infinity) return 'integer';
  if (high === Infinity && low === 0) return 'whole';
  if (high === Infinity && low === 1) return '( [1-9] [0-9]{0,14} )';
  if (high - low >= listMax) return undefined;
  const values = Array.from({ length: high - low + 1 }, (_, i) => `"${low + i}"`);
  return `( ${values.join(' | ')} )`;
}

const listMax = 1000;
