import { Fault } from '../../kit/errors.ts';
import { conversationLimits } from '../schemas/conversations.ts';
import { isIdempotencyKey } from '../schemas/idempotency.ts';

/** A number of rows that a caller may ask for; throws `invalid` (`validation_error`) otherwise. */
export function pageLimit(limit: number | null | undefined, bounds: PageBounds): number {
  const wanted = limit ?? bounds.usual;
  if (wanted >= 1 && wanted <= bounds.most) return wanted;
  throw invalid('limit', `must be from 1 to ${bounds.most}`);
}

export interface PageBounds {
  readonly usual: number;
  readonly most: number;
}

/** A count or place, 0 when absent. */
export function notNegative(name: string, value: number | null | undefined): number {
  if ((value ?? 0) >= 0) return value ?? 0;
  throw invalid(name, 'must not be negative');
}

/** A text with something in it. */
export function notEmpty(name: string, value: string): string {
  if (value.trim() !== '') return value;
  throw invalid(name, 'must not be empty');
}

/** A text of at most so many characters, counted as JSON Schema does. */
export function notLonger(name: string, value: string, lengthMax: number): string {
  if (value.length <= lengthMax || Array.from(value).length <= lengthMax) return value;
  throw invalid(name, `must not have more than ${lengthMax} characters`);
}

/** A conversation's title. */
export function titleOf(title: string): string {
  return notLonger('title', notEmpty('title', title), conversationLimits.titleLengthMax);
}

/** A model's name. */
export function modelOf(model: string): string {
  return notLonger('model', notEmpty('model', model), conversationLimits.modelLengthMax);
}

/** What makes a request that comes again the same. */
export function keyOf(key: string): string {
  if (isIdempotencyKey(key)) return key;
  throw invalid('idempotencyKey', 'must be 1 to 255 printable ASCII characters');
}

/** PostgreSQL stores no U+0000; in GraphQL's own texts it can be written as an escape. */
export function refuseNul(value: unknown, name = 'arguments'): void {
  if (typeof value === 'string' && value.includes('\0')) {
    throw invalid(name, 'holds the character U+0000');
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    if (key.includes('\0')) throw invalid(name, 'holds the character U+0000');
    refuseNul(inner, key);
  }
}

/** The refusal of an argument. */
export function invalid(name: string, what: string): Fault {
  return new Fault('invalid', `${name} ${what}`, {
    reason: 'validation_error',
    detail: { param: name },
  });
}
