import type { ErrorAnswer } from '../failure.ts';
import { recordIn } from '../untrusted.ts';
import { countIn } from './count-in.ts';

type Headers = ErrorAnswer['headers'];

const dayMs = 24 * 60 * 60 * 1000;

/**
 * When a repetition may succeed, in milliseconds from now: `retry-after-ms`, `retry-after` (seconds
 * or a date, RFC 9110 section 10.2.3), the reset of a limit that is used up, or the message's words.
 */
export function retryAfterMs({ headers, body }: ErrorAnswer, message: string): number | undefined {
  const said =
    milliseconds(first(headers, 'retry-after-ms')) ??
    secondsOrDate(first(headers, 'retry-after')) ??
    resetOf(headers) ??
    resetOf(nestedHeaders(body)) ??
    secondsIn(body) ??
    durationMs(
      /(?:try again|retry) (?:in|after) ([\d.]+ ?(?:ms|[hms])[\dhms.]*)/i.exec(message)?.[1],
    );
  return said === undefined ? undefined : Math.min(Math.max(0, Math.ceil(said)), dayMs);
}

/** Another Ennead says it in seconds. */
function secondsIn(body: unknown): number | undefined {
  const seconds = countIn(recordIn(recordIn(body)['error'])['retry_after']);
  return seconds === undefined ? undefined : seconds * 1000;
}

/** `1s`, `6m0s`, `120ms`, `2m59.56s`, `1h2m3s`. */
export function durationMs(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const compact = text.replaceAll(' ', '').replace(/\.$/, '');
  if (!/^(?:[\d.]+(?:ms|[dhms]))+$/.test(compact)) return undefined;
  let sum = 0;
  for (const [, amount, unit] of compact.matchAll(/([\d.]+)(ms|[dhms])/g)) {
    sum += Number(amount) * (unitsMs[unit ?? ''] ?? 0);
  }
  return Number.isFinite(sum) ? sum : undefined;
}

const unitsMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: dayMs,
};

function first(headers: Headers, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

function milliseconds(text: string | undefined): number | undefined {
  return text === undefined || text.trim() === '' ? undefined : countIn(Number(text));
}

function secondsOrDate(text: string | undefined): number | undefined {
  const seconds = milliseconds(text);
  if (seconds !== undefined) return seconds * 1000;
  // Numbers alone would be years.
  const date = text !== undefined && /[a-z]/i.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? durationMs(text) : date - Date.now();
}

const limits = ['requests', 'tokens'];

/** The longest wait among the limits of which nothing remains; OpenRouter's has one for all. */
function resetOf(headers: Headers): number | undefined {
  const waits = limits
    .filter((limit) => Number(first(headers, `x-ratelimit-remaining-${limit}`) ?? 1) <= 0)
    .map((limit) => resetMs(first(headers, `x-ratelimit-reset-${limit}`)))
    .filter((wait) => wait !== undefined);
  if (waits.length > 0) return Math.max(...waits);
  return resetMs(first(headers, 'x-ratelimit-reset'));
}

const firstPlausibleTime = 1_000_000_000;

/** A duration, seconds from now, or Unix time in seconds or milliseconds. */
function resetMs(text: string | undefined): number | undefined {
  const amount = milliseconds(text);
  if (amount === undefined) return durationMs(text);
  if (amount < firstPlausibleTime) return amount * 1000;
  const time = amount < firstPlausibleTime * 1000 ? amount * 1000 : amount;
  return time - Date.now();
}

/** OpenRouter repeats the headers of the provider behind it in `error.metadata.headers`. */
function nestedHeaders(body: unknown): Headers {
  const metadata = recordIn(recordIn(recordIn(body)['error'])['metadata']);
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(recordIn(metadata['headers']))) {
    if (typeof value === 'string') headers[name.toLowerCase()] = value;
  }
  return headers;
}
