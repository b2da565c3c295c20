import type { JsonSchema } from '../../inference/request.ts';

/** How many items a list has behind those that stand fixed. */
export interface Counts {
  readonly least: number;
  readonly most: number | undefined;
  readonly isFirst: boolean;
}

/**
 * The keywords of a list's first items and of all behind them: those of JSON schema since 2020, or of
 * draft 7, which Valibot writes.
 */
export function itemKeywords(schema: JsonSchema): {
  readonly first: string;
  readonly rest: string;
} {
  if (Array.isArray(schema['items'])) return { first: 'items', rest: 'additionalItems' };
  return { first: 'prefixItems', rest: 'items' };
}

/** A list of so many items; behind those of `prefixItems` each has its comma. */
export function repeated(item: string, counts: Counts): string {
  const { least, most, isFirst } = counts;
  const next = (from: number, to: number | undefined) =>
    to === 0 ? '' : `( ws "," ws ${item} ){${from},${to ?? ''}}`;
  if (!isFirst) return next(least, most);
  return `${item} ${next(Math.max(0, least - 1), most === undefined ? undefined : most - 1)}`;
}
