import { Fault } from './errors.ts';

/**
 * Milliseconds since the epoch of an ISO 8601 time. Fault `invalid` for what looks like a time and
 * is none here, such as a leap second; `param` is the field that held it.
 */
export function readTime(text: string, param: string): number {
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) {
    throw new Fault('invalid', `${param}: ${text} is no time`, {
      reason: 'validation_error',
      detail: { param },
    });
  }
  return ms;
}
