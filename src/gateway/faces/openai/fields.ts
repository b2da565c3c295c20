import { Fault } from '../../../kit/errors.ts';
import { doubleOf } from '../../dialects/exact-json.ts';
import { isRecord } from '../../dialects/untrusted.ts';

/** A parsed JSON object. */
export type Json = Readonly<Record<string, unknown>>;

/** The refusal of a value, with the place where it stands. */
export function wrong(param: string, message: string): Fault {
  return new Fault('invalid', `${param} ${message}`, {
    reason: 'invalid_value',
    detail: { param },
  });
}

/** Refuses a field whose name would lead into the messages, past everything that looked at them. */
export function requireFieldName(name: string): void {
  if (/[.[\]]/.test(name) || name === '__proto__') throw wrong(name, 'is no name of a field');
}

/** The refusal of what this face knows but the gateway does not do. */
export function unsupported(param: string, message: string): Fault {
  return new Fault('invalid', `${param} ${message}`, {
    reason: 'unsupported_parameter',
    detail: { param },
  });
}

/** Whether a field says nothing: OpenAI takes null for the absence of most. */
export function isAbsent(value: unknown): value is undefined | null {
  return value === undefined || value === null;
}

export function objectAt(value: unknown, param: string): Json {
  if (isRecord(value)) return value;
  throw wrong(param, 'must be an object');
}

export function listAt(value: unknown, param: string): readonly unknown[] {
  if (Array.isArray(value)) return value as unknown[];
  throw wrong(param, 'must be a list');
}

export function textAt(value: unknown, param: string): string {
  if (typeof value === 'string') return value;
  throw wrong(param, 'must be a string');
}

/** A text that is not empty. */
export function nameAt(value: unknown, param: string): string {
  if (typeof value === 'string' && value !== '') return value;
  throw wrong(param, 'must be a string that is not empty');
}

export function textOrNone(value: unknown, param: string): string | undefined {
  return isAbsent(value) ? undefined : textAt(value, param);
}

export function booleanOrNone(value: unknown, param: string): boolean | undefined {
  if (isAbsent(value)) return undefined;
  if (typeof value === 'boolean') return value;
  throw wrong(param, 'must be true or false');
}

/** What a number may be. */
export interface Range {
  readonly min: number;
  readonly max: number;
  readonly isWhole?: boolean;
}

export function numberOrNone(value: unknown, param: string, range: Range): number | undefined {
  if (isAbsent(value)) return undefined;
  const { min, max, isWhole = false } = range;
  const number = doubleOf(value);
  if (typeof number !== 'number' || (isWhole && !Number.isSafeInteger(number))) {
    throw wrong(param, isWhole ? 'must be a whole number' : 'must be a number');
  }
  if (number >= min && number <= max) return number;
  const bounds = max === Number.MAX_SAFE_INTEGER ? `at least ${min}` : `from ${min} to ${max}`;
  throw wrong(param, `must be ${bounds}`);
}

/** Whole numbers from 1. */
export const count: Range = { min: 1, max: Number.MAX_SAFE_INTEGER, isWhole: true };
