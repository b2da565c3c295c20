import { toMs } from '../trace/shares.ts';

/**
 * Each part in whole milliseconds so that they add up to their sum in whole milliseconds: what
 * rounding down takes is given back where it took most (largest remainder). Parts may be negative.
 */
export function wholeMilliseconds(partsUs: readonly number[]): number[] {
  const sumUs = partsUs.reduce((sum, us) => sum + us, 0);
  const parts = partsUs.map((us) => Math.floor(us / 1_000));
  const missing = toMs(sumUs) - parts.reduce((sum, ms) => sum + ms, 0);
  const byRemainder = partsUs
    .map((us, at) => ({ at, remainder: us - Math.floor(us / 1_000) * 1_000 }))
    .toSorted((a, b) => b.remainder - a.remainder || a.at - b.at);
  for (const { at } of byRemainder.slice(0, missing)) parts[at] = (parts[at] ?? 0) + 1;
  return parts;
}

/** What a part is of a whole, in percent with two decimals; 0 of nothing. */
export function percentOf(part: number, whole: number): number {
  return whole === 0 ? 0 : twoDecimals((part * 100) / whole);
}

/** With two decimals. */
export function twoDecimals(value: number): number {
  return Math.round(value * 100) / 100;
}
