import { coveredBy, segmentsOf, spanOf, type TimeRange } from '../series/time-range.ts';

/** A range as answers tell it. */
export interface RangeTimes {
  readonly timeRange: TimeRange;
  /** ISO 8601; where what is counted begins. */
  readonly startTime: string;
  readonly endTime: string;
}

/** A range that ends now: the cells that are read for it, and what of it they hold. */
export function rangeOf(timeRange: TimeRange, nowMs: number) {
  const span = spanOf(timeRange, nowMs);
  const segments = segmentsOf(span, nowMs);
  const fromMs = coveredBy(segments, span).from * 60_000;
  const times: RangeTimes = {
    timeRange,
    startTime: new Date(fromMs).toISOString(),
    endTime: new Date(nowMs).toISOString(),
  };
  return { segments, times, fromMs, seconds: (nowMs - fromMs) / 1_000 };
}

/** A share of a whole, 0 of nothing; six decimals. */
export function rate(part: number, whole: number): number {
  return whole > 0 ? rounded(part / whole) : 0;
}

/** Six decimals. */
export function rounded(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}

/** Milliseconds of microseconds, to the microsecond. */
export function milliseconds(us: number): number {
  return Math.round(us) / 1_000;
}

/** Milliseconds on average, 0 of nothing. */
export function averageMs(sumUs: number, count: number): number {
  return count > 0 ? milliseconds(sumUs / count) : 0;
}
