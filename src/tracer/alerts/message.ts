import type { AlertFacts, EventKind } from './alert.ts';
import type { AlertMetricName } from './condition.ts';

/** An event in words that are the same in every channel. */
export interface Message {
  readonly isResolved: boolean;
  readonly headline: string;
  readonly facts: readonly (readonly [title: string, value: string])[];
}

/** What is told of an event; `at` is when it happened. */
export function messageOf(kind: EventKind, facts: AlertFacts, at: Date): Message {
  const { name, severity, condition, value, firedAt, traceIds } = facts;
  const { metric, operator, threshold, timeWindow, agentId, operation } = condition;
  const isResolved = kind !== 'fired';
  const [is, limit] = [
    value === null ? 'without traces' : quantity(metric, value),
    quantity(metric, threshold),
  ];
  const scope = [
    ...(agentId === undefined ? [] : [['Agent', agentId] as const]),
    ...(operation === undefined ? [] : [['Operation', operation] as const]),
  ];
  return {
    isResolved,
    headline: isResolved
      ? `[${severity}] ${name} is resolved: ${metric} is ${is} over ${timeWindow}, no longer ${operator} ${limit}`
      : `[${severity}] ${name} is firing: ${metric} is ${is} over ${timeWindow}, ${operator} ${limit}`,
    facts: [
      ['Alert', name],
      ['Status', isResolved ? 'resolved' : 'firing'],
      ['Severity', severity],
      ['Metric', metric],
      ['Value', is],
      ['Threshold', `${operator} ${limit}`],
      ['Window', timeWindow],
      ...scope,
      ['Fired at', firedAt],
      ...(isResolved ? [['Resolved at', at.toISOString()] as const] : []),
      ...(traceIds.length > 0 ? [['Example traces', traceIds.join(', ')] as const] : []),
    ],
  };
}

const units: Readonly<Record<AlertMetricName, string>> = {
  error_rate: '',
  error_count: '',
  request_rate: '/s',
  average_duration: ' ms',
  p50: ' ms',
  p95: ' ms',
  p99: ' ms',
};

/** At most four significant digits behind the point, and the unit. */
function quantity(metric: AlertMetricName, value: number): string {
  const rounded = Math.abs(value) >= 1_000 ? Math.round(value) : Number(value.toPrecision(4));
  return `${rounded}${units[metric]}`;
}
