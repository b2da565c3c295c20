import type { InputOf } from '../../api/contracts.ts';
import type { Alert } from '../parts/answers.ts';

type NewAlert = NonNullable<InputOf<'tracer', 'POST /api/v1/alerts'>['body']>;
export type Condition = NonNullable<NewAlert['condition']>;
export type Metric = Condition['metric'];
export type Operator = Condition['operator'];
export type Severity = NonNullable<NewAlert['severity']>;
type Notification = NonNullable<NewAlert['notifications']>[number];

/** Everything that an alert can watch, with the unit of its threshold. */
export const metrics: Readonly<Record<Metric, { readonly title: string; readonly unit: string }>> =
  {
    error_rate: { title: 'Error rate', unit: 'a fraction: 0.05 is 5 %' },
    error_count: { title: 'Number of errors', unit: 'failed traces' },
    request_rate: { title: 'Trace rate', unit: 'traces a second' },
    average_duration: { title: 'Average duration', unit: 'milliseconds' },
    p50: { title: 'Median duration (p50)', unit: 'milliseconds' },
    p95: { title: 'p95 of durations', unit: 'milliseconds' },
    p99: { title: 'p99 of durations', unit: 'milliseconds' },
  };

/** How a value is compared with the threshold. */
export const operators: Readonly<Record<Operator, string>> = {
  greaterThan: '>',
  greaterThanOrEqual: '≥',
  lessThan: '<',
  lessThanOrEqual: '≤',
  equal: '=',
};

/** From the least to the most urgent. */
export const severities: Readonly<Record<Severity, string>> = {
  info: 'Info',
  low: 'Low',
  medium: 'Medium',
  warning: 'Warning',
  high: 'High',
  critical: 'Critical',
};

/** An alert as its form holds it. */
export interface AlertDraft {
  readonly name: string;
  readonly metric: Metric;
  readonly operator: Operator;
  readonly threshold: string;
  readonly timeWindow: string;
  readonly agentId: string;
  readonly operation: string;
  readonly severity: Severity;
  readonly isEnabled: boolean;
  readonly notifications: readonly NotificationDraft[];
}

/** Where a message goes; `key` tells the rows of the form apart. */
export interface NotificationDraft {
  readonly key: number;
  readonly type: 'slack' | 'email';
  readonly webhook: string;
  readonly channel: string;
  /** Separated by commas. */
  readonly recipients: string;
}

export const emptyDraft: AlertDraft = {
  name: '',
  metric: 'error_rate',
  operator: 'greaterThan',
  threshold: '0.05',
  timeWindow: '5m',
  agentId: '',
  operation: '',
  severity: 'medium',
  isEnabled: true,
  notifications: [],
};

/** An alert that there is, to be changed. */
export function draftOf({ name, condition, severity, enabled, notifications }: Alert): AlertDraft {
  const { threshold, timeWindow, agentId = '', operation = '' } = condition;
  return {
    name,
    metric: keyOf(metrics, condition.metric) ?? emptyDraft.metric,
    operator: keyOf(operators, condition.operator) ?? emptyDraft.operator,
    threshold: String(threshold),
    timeWindow,
    agentId,
    operation,
    severity: keyOf(severities, severity) ?? emptyDraft.severity,
    isEnabled: enabled,
    notifications: notifications.map(({ type, webhook = '', channel = '', recipients }, key) => ({
      key,
      type: type === 'email' ? 'email' : 'slack',
      webhook,
      channel,
      recipients: recipients?.join(', ') ?? '',
    })),
  };
}

/** The condition that a draft says. */
export function conditionOf(draft: AlertDraft): Condition {
  const { metric, operator, threshold, timeWindow, agentId, operation } = draft;
  return {
    metric,
    operator,
    threshold: Number(threshold),
    timeWindow: timeWindow.trim(),
    ...(agentId.trim() ? { agentId: agentId.trim() } : {}),
    ...(operation.trim() ? { operation: operation.trim() } : {}),
  };
}

/** What is sent to make or change an alert. */
export function bodyOf(draft: AlertDraft): NewAlert {
  return {
    name: draft.name.trim(),
    condition: conditionOf(draft),
    severity: draft.severity,
    enabled: draft.isEnabled,
    notifications: draft.notifications.map(notificationOf),
  };
}

/** A condition as a sentence. */
export function tellCondition(condition: Alert['condition']): string {
  const { threshold, timeWindow, agentId, operation } = condition;
  const metric = keyOf(metrics, condition.metric);
  const operator = keyOf(operators, condition.operator);
  const about = [
    ...(operation ? [`operation ${operation}`] : []),
    ...(agentId ? [`agent ${agentId}`] : []),
  ].join(', ');
  return `${metric ? metrics[metric].title : condition.metric} ${
    operator ? operators[operator] : condition.operator
  } ${threshold} over ${timeWindow}${about ? `, of ${about}` : ''}`;
}

function notificationOf({ type, webhook, channel, recipients }: NotificationDraft): Notification {
  if (type === 'email') {
    const addresses = recipients.split(/[\s,;]+/).filter(Boolean);
    return { type, recipients: addresses };
  }
  return { type, webhook: webhook.trim(), ...(channel.trim() ? { channel: channel.trim() } : {}) };
}

/** The key of a record that a text is; undefined for any other text. */
function keyOf<K extends string>(record: Readonly<Record<K, unknown>>, text: string) {
  return Object.hasOwn(record, text) ? (text as K) : undefined;
}
