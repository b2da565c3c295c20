import { Fault } from '../../../kit/errors.ts';
import type { CacheMark } from '../../conversation/request.ts';
import { doubleOf } from '../../dialects/exact-json.ts';
import { isRecord } from '../../dialects/untrusted.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** The refusal of a field; `expected` ends the sentence that begins with its path. */
export function invalid(param: string, expected: string): Fault {
  return new Fault('invalid', `${param}: ${expected}`, { detail: { param } });
}

export function expectObject(value: unknown, path: string): Fields {
  if (isRecord(value)) return value;
  throw invalid(path, 'must be an object');
}

export function expectList(value: unknown, path: string): readonly unknown[] {
  if (Array.isArray(value)) return value as readonly unknown[];
  throw invalid(path, 'must be a list');
}

export function expectText(value: unknown, path: string): string {
  if (typeof value === 'string') return value;
  throw invalid(path, 'must be a string');
}

/** A text with something in it, such as a name. */
export function expectName(value: unknown, path: string): string {
  if (typeof value === 'string' && value !== '') return value;
  throw invalid(path, 'must be a string that is not empty');
}

/** An integer of at least `min`. */
export function expectCount(value: unknown, path: string, min: number): number {
  const count = doubleOf(value);
  if (typeof count === 'number' && Number.isInteger(count) && count >= min) return count;
  throw invalid(path, `must be an integer of at least ${min}`);
}

/** A number from 0 to 1; undefined where the field is absent. */
export function readShare(value: unknown, path: string): number | undefined {
  if (isAbsent(value)) return undefined;
  const share = doubleOf(value);
  if (typeof share === 'number' && share >= 0 && share <= 1) return share;
  throw invalid(path, 'must be a number from 0 to 1');
}

/** Undefined where the field is absent. */
export function readFlag(value: unknown, path: string): boolean | undefined {
  if (isAbsent(value)) return undefined;
  if (typeof value === 'boolean') return value;
  throw invalid(path, 'must be true or false');
}

export function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}

/** `cache_control`; undefined where the field is absent. */
export function readMark(value: unknown, path: string): CacheMark | undefined {
  if (isAbsent(value)) return undefined;
  const { type, ttl } = expectObject(value, path);
  if (type !== 'ephemeral') throw invalid(`${path}.type`, 'must be "ephemeral"');
  return isAbsent(ttl) ? {} : { ttl: expectName(ttl, `${path}.ttl`) };
}

/** What is found in a request besides what our words can hold. */
export class Remainder {
  readonly extras: Record<string, unknown> = {};
  /** The body holds what only this gateway understands. */
  needsTranslation = false;

  /** Keeps the fields of an object that are not among `known`, by their paths. */
  keepOthers(fields: Fields, known: ReadonlySet<string>, path = ''): void {
    for (const name in fields) if (!known.has(name)) this.keep(path + name, fields[name]);
  }

  keep(path: string, value: unknown): void {
    if (isAbsent(value)) return;
    this.extras[placeOf(path)] = value;
  }
}

/** Of a path with a dot before a number, as Anthropic writes them, the place: `tools[0]`. */
export function placeOf(path: string): string {
  return path.replaceAll(/\.(\d+)/g, '[$1]');
}
