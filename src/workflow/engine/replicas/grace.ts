const leastMs = 1_000;
const mostMs = 3_000;

/**
 * How long nodes that run may still take when the process stops, which has so many milliseconds left: a little,
 * too, where requests have had all of it, for what is nearly done would be done twice.
 */
export function graceOf(leftMs: number = mostMs): number {
  return Math.min(Math.max(leftMs, leastMs), mostMs);
}
