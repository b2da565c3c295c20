interface Ordered {
  readonly id: string;
}

/** Where an id stands among ones in the order of their ids, or would stand. */
export function placeOf(ordered: readonly Ordered[], id: string): number {
  let from = 0;
  let to = ordered.length;
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((ordered[middle]?.id ?? '') < id) from = middle + 1;
    else to = middle;
  }
  return from;
}
