/** How many items a list has behind those that stand fixed. */
export interface Counts {
  readonly least: number;
  readonly most: number | undefined;
  readonly isFirst: boolean;
}

/** A list of so many items; behind those of `prefixItems` each has its comma. */
export function repeated(item: string, counts: Counts): string {
  const { least, most, isFirst } = counts;
  const next = (from: number, to: number | undefined) =>
    to === 0 ? '' : `( ws "," ws ${item} ){${from},${to ?? ''}}`;
  if (!isFirst) return next(least, most);
  return `${item} ${next(Math.max(0, least - 1), most === undefined ? undefined : most - 1)}`;
}
