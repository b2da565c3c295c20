import { doubleOf } from '../exact-json.ts';

/** The value where it counts something: finite and not negative. */
export function countIn(value: unknown): number | undefined {
  const count = doubleOf(value);
  return typeof count === 'number' && Number.isFinite(count) && count >= 0 ? count : undefined;
}
