/** A part of a time range. */
export interface Interval {
  readonly fromMs: number;
  readonly toMs: number;
}

/** What the tracer lists of an interval: the newest of its traces, and how many there are. */
export interface Sample {
  readonly total: number;
  readonly traces: readonly { readonly duration: number; readonly status: string }[];
}

/** What an interval was like; without traces it has no error rate and no durations. */
export interface Point {
  /** When its interval begins. */
  readonly timeMs: number;
  readonly count: number;
  readonly errorRate: number | undefined;
  readonly p50: number | undefined;
  readonly p95: number | undefined;
  readonly p99: number | undefined;
  /** The rates and durations are those of a part of its traces. */
  readonly isSampled: boolean;
}

const minuteMs = 60_000;

/** So many intervals of a length up to the end of this minute: all of them but for seconds are over. */
export function intervalsUntil(nowMs: number, stepMs: number, count: number): Interval[] {
  const endMs = Math.ceil(nowMs / minuteMs) * minuteMs;
  return Array.from({ length: count }, (_, at) => {
    const toMs = endMs - (count - 1 - at) * stepMs;
    return { fromMs: toMs - stepMs, toMs };
  });
}

/** Adds up what is known of an interval. */
export function pointOf({ fromMs }: Interval, { total, traces }: Sample): Point {
  const durations = traces.map(({ duration }) => duration).toSorted((a, b) => a - b);
  const failed = traces.filter(({ status }) => status !== 'success').length;
  return {
    timeMs: fromMs,
    count: total,
    errorRate: traces.length === 0 ? undefined : failed / traces.length,
    p50: quantileOf(durations, 0.5),
    p95: quantileOf(durations, 0.95),
    p99: quantileOf(durations, 0.99),
    isSampled: traces.length < total,
  };
}

/** The smallest value that so many of the sorted ones are not above. */
export function quantileOf(sorted: readonly number[], quantile: number): number | undefined {
  return sorted[Math.max(0, Math.ceil(sorted.length * quantile) - 1)];
}
