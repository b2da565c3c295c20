/**
 * Whether each number of a JSON value can be held: `1e400` is JSON too, and becomes null as soon as the
 * value is written again.
 */
export function hasFiniteNumbers(value: unknown): boolean {
  const next = [value];
  for (let at = 0; at < next.length; at++) {
    const one = next[at];
    if (typeof one === 'number' && !Number.isFinite(one)) return false;
    if (typeof one === 'object' && one !== null)
      for (const part of Object.values(one)) next.push(part);
  }
  return true;
}
