/** Turns far enough that neighbours differ. */
const turn = 137.508;
/** The first is a blue; errors alone are red. */
const first = 205;

/** A hue for each service, in the order in which they first appear; none of them is an error's red. */
export function huesOf(
  spans: readonly { readonly service: string }[],
): ReadonlyMap<string, number> {
  const hues = new Map<string, number>();
  for (const { service } of spans) {
    if (hues.has(service)) continue;
    const hue = (first + hues.size * turn) % 300;
    hues.set(service, Math.round(hue + 45));
  }
  return hues;
}
