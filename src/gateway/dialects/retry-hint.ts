import type { ErrorAnswer } from './failure.ts';

type Headers = ErrorAnswer['headers'];

export function headerOf(headers: Headers, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : value?.[0];
}

/** Milliseconds until the time that `Retry-After` names (RFC 9110, section 10.2.3). */
export function retryAfterMs(headers: Headers): number | undefined {
  const value = headerOf(headers, 'retry-after');
  if (value === undefined || value === '') return undefined;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return Math.max(0, Math.round(seconds * 1000));
  return msUntil(value);
}

/** Milliseconds until a date; undefined for what is none. */
export function msUntil(date: string): number | undefined {
  const time = Date.parse(date);
  return Number.isNaN(time) ? undefined : Math.max(0, time - Date.now());
}
