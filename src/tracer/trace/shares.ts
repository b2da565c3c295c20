/**
 * Parts of a whole as integers that add up to `total` exactly (largest remainder): each is less than
 * one away from its true share. Parts are not negative; parts that are all 0 stay 0.
 */
export function shareOut(total: number, parts: readonly number[]): number[] {
  let sum = 0;
  for (const part of parts) sum += part;
  if (sum <= 0) return parts.map(() => 0);
  const exact = parts.map((part) => part * (total / sum));
  const shares = exact.map(Math.floor);
  let left = total;
  for (const share of shares) left -= share;
  const byRemainder = exact
    .map((value, index) => ({ index, remainder: value - Math.floor(value) }))
    .toSorted((one, other) => other.remainder - one.remainder || one.index - other.index);
  for (const { index } of byRemainder.slice(0, left)) shares[index] = (shares[index] ?? 0) + 1;
  return shares;
}

/** Microseconds as the whole milliseconds of the interface. */
export function toMs(us: number): number {
  return Math.round(us / 1000);
}
