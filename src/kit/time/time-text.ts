import { Fault } from '../errors.ts';

/** What a day stands for: its first millisecond or its last. */
export type DayEdge = 'start' | 'end';

const pattern =
  /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)(Z|[+-]\d{2}:?\d{2})?)?$/i;

/**
 * Milliseconds since the epoch of a day or an ISO 8601 time. Undefined for what is none, or none here,
 * such as a leap second.
 */
export function parseTime(text: string, edge: DayEdge = 'start'): number | undefined {
  const [, day = '', clock, offset = 'Z'] = pattern.exec(text) ?? [];
  const wholeDay = edge === 'start' ? '00:00:00.000' : '23:59:59.999';
  const ms = Date.parse(`${day}T${clock ?? wholeDay}${offset.toUpperCase()}`);
  return Number.isNaN(ms) || !isDay(day) ? undefined : ms;
}

/** As `parseTime`; fault `invalid` for what is no time. `param` is the field that held it. */
export function readTime(text: string, param: string, edge?: DayEdge): number {
  const ms = parseTime(text, edge);
  if (ms !== undefined) return ms;
  throw new Fault('invalid', `${param} must be a time such as 2026-01-31T08:00:00Z, or a day`, {
    reason: 'validation_error',
    detail: { param },
  });
}

/** 31 February is read as a day of March. */
function isDay(day: string): boolean {
  const ms = Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(day);
}
