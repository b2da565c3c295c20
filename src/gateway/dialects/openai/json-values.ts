import { doubleOf, ExactNumber } from '../exact-json.ts';

/** A parsed JSON object. */
export type Json = Readonly<Record<string, unknown>>;

/** Whether a parsed value is an object and no list. */
export function isObject(value: unknown): value is Json {
  if (typeof value !== 'object' || value === null) return false;
  return !Array.isArray(value) && !(value instanceof ExactNumber);
}

/** The value where it is an object; else an empty one. */
export function objectIn(value: unknown): Json {
  return isObject(value) ? value : nothing;
}

/** The value where it is a list; else an empty one. */
export function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : none;
}

/** The value where it is a text that says something. */
export function textIn(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The value where it counts something: finite and not negative. */
export function countIn(value: unknown): number | undefined {
  const count = doubleOf(value);
  return typeof count === 'number' && Number.isFinite(count) && count >= 0 ? count : undefined;
}

const nothing: Json = {};
const none: readonly unknown[] = [];
