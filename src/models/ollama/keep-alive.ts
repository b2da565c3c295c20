import { invalidField } from '../unsupported.ts';

const unitsMs: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

const part = /(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)/g;
const duration = /^([+-]?)((?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|ms|s|m|h))+)$/;

/** What stands for "for ever": a hundred years. */
export const foreverMs = 100 * 365.25 * 24 * 3_600_000;

/**
 * How long a model stays in memory: seconds as a number, or a duration as Go writes it (`1h30m`).
 * Less than 0 is for ever, 0 not at all. Undefined leaves it to the runtime.
 */
export function readKeepAlive(value: string | number | null | undefined): number | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  const ms = typeof value === 'number' ? value * 1000 : parseDuration(value);
  if (Number.isNaN(ms)) {
    throw invalidField('keep_alive', 'must be seconds, or a duration such as "5m" or "1h30m"');
  }
  return ms < 0 ? foreverMs : Math.min(Math.round(ms), foreverMs);
}

/** Milliseconds; NaN for what is no duration. A text without a unit counts seconds. */
function parseDuration(text: string): number {
  if (/^[+-]?\d+(\.\d+)?$/.test(text)) return Number(text) * 1000;
  const [, sign, parts] = duration.exec(text) ?? [];
  if (parts === undefined) return Number.NaN;
  let ms = 0;
  for (const [, count, unit] of parts.matchAll(part))
    ms += Number(count) * (unitsMs[unit ?? ''] ?? 0);
  return sign === '-' ? -ms : ms;
}
