import { Fault } from '../../kit/errors.ts';
import type { ExampleOrder, MetricWindow } from './metric-source.ts';

/** What an alert may watch: rates are 0..1, `request_rate` is per second, durations milliseconds. */
export const alertMetricNames = [
  'error_rate',
  'request_rate',
  'average_duration',
  'p50',
  'p95',
  'p99',
  'error_count',
] as const;
export type AlertMetricName = (typeof alertMetricNames)[number];

export const alertOperators = [
  'greaterThan',
  'lessThan',
  'greaterThanOrEqual',
  'lessThanOrEqual',
  'equal',
] as const;
export type AlertOperator = (typeof alertOperators)[number];

/** When an alert fires. */
export interface AlertCondition {
  readonly metric: AlertMetricName;
  readonly operator: AlertOperator;
  readonly threshold: number;
  /** `30s` to `24h`, exactly. */
  readonly timeWindow: string;
  readonly agentId?: string;
  readonly operation?: string;
}

/** What is counted in a window that lasted so long. */
export interface WindowFacts extends MetricWindow {
  readonly seconds: number;
}

const secondsOf: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };
const secondsMin = 30;
const secondsMax = 86_400;

/** The seconds that a text such as `5m` stands for; throws `invalid` for any other. */
export function windowSeconds(timeWindow: string): number {
  const [, digits = '', unit = ''] = /^(\d{1,6})([smhd])$/.exec(timeWindow) ?? [];
  const seconds = Number(digits) * (secondsOf[unit] ?? 0);
  if (unit === '') {
    throw badWindow(
      'must be a whole number with s, m, h or d behind it, such as `30s`, `5m` or `24h`',
    );
  }
  if (seconds < secondsMin || seconds > secondsMax) {
    throw badWindow(`must lie between 30s and 24h; ${timeWindow} does not`);
  }
  return seconds;
}

/**
 * The metric's value; undefined in a window without traces, where only `request_rate` and
 * `error_count` have one: 0.
 */
export function valueOf(metric: AlertMetricName, facts: WindowFacts): number | undefined {
  if (metric === 'request_rate') return facts.count / facts.seconds;
  if (metric === 'error_count') return facts.errors;
  if (facts.count <= 0) return undefined;
  if (metric === 'error_rate') return facts.errors / facts.count;
  if (metric === 'average_duration') return facts.sumUs / facts.count / 1_000;
  return facts.quantileUs(quantiles[metric]) / 1_000;
}

const quantiles = { p50: 0.5, p95: 0.95, p99: 0.99 } as const;

const comparisons: Readonly<Record<AlertOperator, (value: number, threshold: number) => boolean>> =
  {
    greaterThan: (value, threshold) => value > threshold,
    lessThan: (value, threshold) => value < threshold,
    greaterThanOrEqual: (value, threshold) => value >= threshold,
    lessThanOrEqual: (value, threshold) => value <= threshold,
    equal: (value, threshold) => value === threshold,
  };

/** False where there is no value. */
export function holds(
  { operator, threshold }: Pick<AlertCondition, 'operator' | 'threshold'>,
  value: number | undefined,
): boolean {
  return value !== undefined && comparisons[operator](value, threshold);
}

/** Of two values, the one further beyond the threshold. */
export function furtherOf(operator: AlertOperator, one: number, other: number): number {
  const isBelow = operator === 'lessThan' || operator === 'lessThanOrEqual';
  return isBelow ? Math.min(one, other) : Math.max(one, other);
}

/** Sentences on a condition that is valid and yet can hardly be meant. */
export function warningsOf({ metric, operator, threshold }: AlertCondition): string[] {
  const max = metric === 'error_rate' ? 1 : Number.POSITIVE_INFINITY;
  const canHold = {
    greaterThan: threshold < max,
    greaterThanOrEqual: threshold <= max,
    lessThan: threshold > 0,
    lessThanOrEqual: threshold >= 0,
    equal: threshold >= 0 && threshold <= max,
  }[operator];
  if (metric === 'error_rate' && threshold > 1) {
    const meant = threshold <= 100 ? `; for ${threshold} percent say ${threshold / 100}` : '';
    return [`error_rate is a fraction from 0 to 1${meant}`];
  }
  return canHold ? [] : [`${metric} is never ${operator} ${threshold}: the alert cannot fire`];
}

/** Which traces show what such a value comes from. */
export function exampleOrderOf(metric: AlertMetricName): ExampleOrder {
  if (metric === 'error_rate' || metric === 'error_count') return 'failed';
  return metric === 'request_rate' ? 'latest' : 'slowest';
}

function badWindow(message: string): Fault {
  const flaw = { path: 'body.condition.timeWindow', message };
  return new Fault('invalid', `${flaw.path} ${message}`, {
    reason: 'validation_error',
    detail: { errors: [flaw], param: 'condition.timeWindow' },
  });
}
