import { Type } from 'typebox';
import type { Route } from '../../kit/contract.ts';
import { pageAnswer, pageQuery } from '../../kit/paging.ts';
import { severities } from '../alerts/alert.ts';
import { alertMetricNames, alertOperators } from '../alerts/condition.ts';

const alertsPath = '/api/v1/alerts';
const reading = 'tracer:read';
const configuration = 'tracer:configure';

const timestamp = Type.String({ format: 'date-time' });

function line(maxLength: number, description: string) {
  return Type.String({
    minLength: 1,
    maxLength,
    // Half a character is refused too: the database takes none.
    pattern:
      '^(?=.*\\S)(?:[^\\u0000-\\u001f\\u007f\\ud800-\\udfff]|[\\ud800-\\udbff][\\udc00-\\udfff])+$',
    description: `${description}: one line of text`,
  });
}

const condition = Type.Object(
  {
    metric: Type.Enum(alertMetricNames, {
      description:
        'of the traces that started in the window: rates of errors are 0..1, `request_rate` is per second, durations are milliseconds. In a window without traces `request_rate` and `error_count` are 0, and no condition on another metric holds',
    }),
    operator: Type.Enum(alertOperators),
    threshold: Type.Number({ minimum: -1e15, maximum: 1e15 }),
    timeWindow: Type.String({
      maxLength: 16,
      description:
        'how far it looks back from now, exactly: `30s` to `24h` (s, m, h or d). Traces count by when they started, once they are complete. Of the minute within which the window begins, the traces inside are counted one by one; where that minute holds more than 10,000, its share is taken. `request_rate` is by the seconds of the window',
    }),
    agentId: Type.Optional(line(512, 'only traces of this agent')),
    operation: Type.Optional(line(1_024, 'only traces of this name')),
  },
  // A filter that is misspelt would have it look at everything.
  { $id: 'AlertCondition', additionalProperties: false },
);

const recipient = Type.String({
  maxLength: 254,
  pattern:
    '^[^\\s@<>(),;:"\\[\\]\\\\\\u0000-\\u001f\\u007f\\ud800-\\udfff]+@[^\\s@<>(),;:"\\[\\]\\\\\\u0000-\\u001f\\u007f\\ud800-\\udfff]+$',
  description: 'an email address',
});

// One object and no union, because its refusals name the field that is wrong.
const notification = Type.Object(
  {
    type: Type.Enum(['slack', 'email']),
    webhook: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 2_048,
        description:
          'of `slack`: an incoming webhook’s address. Answers show its origin only, `https://hooks.slack.com/***`, and in a change that stands for the address there was',
      }),
    ),
    channel: Type.Optional(line(80, 'of `slack`, in place of the webhook’s own channel')),
    recipients: Type.Optional(
      Type.Array(recipient, { minItems: 1, maxItems: 20, description: 'of `email`' }),
    ),
  },
  { $id: 'AlertNotification' },
);

const notifications = Type.Array(notification, { maxItems: 10 });

const severity = Type.Enum(severities);
const name = line(200, 'what people call it');
const enabled = Type.Boolean({ description: 'false pauses it' });

const newAlert = Type.Object(
  {
    name,
    condition,
    notifications: Type.Optional(notifications),
    severity: Type.Optional(severity),
    enabled: Type.Optional(enabled),
  },
  { $id: 'NewAlert' },
);

const alertChanges = Type.Object(
  {
    name: Type.Optional(name),
    condition: Type.Optional(condition),
    notifications: Type.Optional(notifications),
    severity: Type.Optional(severity),
    enabled: Type.Optional(enabled),
  },
  { $id: 'AlertChanges' },
);

const shownNotification = Type.Object({
  type: Type.String({ description: '`slack` or `email`' }),
  webhook: Type.Optional(Type.String({ description: 'its origin, the rest is secret' })),
  channel: Type.Optional(Type.String()),
  recipients: Type.Optional(Type.Array(Type.String())),
});

const shownCondition = Type.Object({
  metric: Type.String(),
  operator: Type.String(),
  threshold: Type.Number(),
  timeWindow: Type.String(),
  agentId: Type.Optional(Type.String()),
  operation: Type.Optional(Type.String()),
});

const alert = Type.Object(
  {
    alertId: Type.String(),
    name: Type.String(),
    status: Type.String({ description: '`active` or `paused`' }),
    createdAt: timestamp,
    updatedAt: timestamp,
    createdBy: Type.String({ description: 'the subject of a token' }),
    enabled: Type.Boolean(),
    severity: Type.String(),
    condition: shownCondition,
    notifications: Type.Array(shownNotification),
    state: Type.String({ description: '`ok` or `firing`' }),
    firingSince: Type.Optional(timestamp),
    lastEvaluatedAt: Type.Optional(timestamp),
    lastValue: Type.Optional(
      Type.Number({ description: 'absent after a window without traces, where that has no value' }),
    ),
    warnings: Type.Optional(
      Type.Array(Type.String(), { description: 'why the condition is hardly what was meant' }),
    ),
  },
  { $id: 'Alert' },
);

const delivery = Type.Object({
  type: Type.String(),
  target: Type.String({ description: 'the webhook’s origin and channel, or the recipients' }),
  status: Type.String({
    description: '`pending`, `delivered`, `failed` or `cancelled` (the alert was paused)',
  }),
  attempts: Type.Integer(),
  nextAttemptAt: Type.Optional(timestamp),
  deliveredAt: Type.Optional(timestamp),
  error: Type.Optional(Type.String({ description: 'of the last attempt that failed' })),
});

const event = Type.Object(
  {
    eventId: Type.String(),
    event: Type.String({
      description: '`fired`, `resolved`, or `silenced`: it was paused while it was firing',
    }),
    at: timestamp,
    name: Type.String({ description: 'the alert’s, as it was then' }),
    severity: Type.String(),
    condition: shownCondition,
    value: Type.Optional(Type.Number({ description: 'absent where the window had none' })),
    traceIds: Type.Array(Type.String(), { description: 'examples, at most three' }),
    deliveries: Type.Array(delivery),
  },
  { $id: 'AlertEvent' },
);

const dryRunRequest = Type.Object(
  {
    condition,
    from: Type.Optional(timestamp),
    to: Type.Optional(timestamp),
    timeRange: Type.Optional(
      Type.Enum(['1h', '24h', '7d'], { description: 'up to now, in place of `from` and `to`' }),
    ),
  },
  { $id: 'AlertDryRunRequest' },
);

const dryRun = Type.Object(
  {
    from: Type.String({ format: 'date-time', description: 'a step before the first look' }),
    to: Type.String({ format: 'date-time', description: 'the last look; nothing later is told' }),
    evaluations: Type.Integer({ description: 'how often the condition was looked at' }),
    stepMinutes: Type.Integer({ description: 'between two of them' }),
    firings: Type.Array(
      Type.Object({
        firedAt: timestamp,
        resolvedAt: Type.Optional(timestamp),
        peak: Type.Number({ description: 'the value furthest beyond the threshold' }),
      }),
      { description: 'the first thousand' },
    ),
    totalFirings: Type.Integer(),
    warnings: Type.Optional(
      Type.Array(Type.String(), {
        description:
          'why the condition is hardly what was meant, and what the dry run of a window below a minute does not see',
      }),
    ),
  },
  { $id: 'AlertDryRun' },
);

const params = Type.Object({
  id: Type.String({ maxLength: 64, pattern: '^[\\w-]+$', description: 'the id of an alert' }),
});

/** The routes of the alerts. */
export const alertRoutes = {
  createAlert: {
    method: 'POST',
    url: alertsPath,
    summary: 'Be told when a metric crosses a threshold',
    description:
      'Evaluated every 10 seconds; fires once, and resolves once its condition holds no longer. Messages are kept until they are delivered and retried for about two and a half hours; one may come twice when a process dies in the middle. Email needs `SMTP_URL`: without it the alert is accepted, and its history says why no mail was sent.',
    permission: configuration,
    schema: { body: newAlert, response: { 201: alert } },
  },
  listAlerts: {
    method: 'GET',
    url: alertsPath,
    summary: 'List the alerts, the newest first',
    permission: reading,
    schema: {
      query: Type.Object(pageQuery()),
      response: {
        200: Type.Object({
          alerts: Type.Array(alert),
          ...pageAnswer,
        }),
      },
    },
  },
  dryRunAlert: {
    method: 'POST',
    url: `${alertsPath}/dry-run`,
    summary: 'Say when an alert would have fired in the past',
    description:
      'The last 24 hours unless told, at most the last 7 days. Looked at on whole minutes only: every minute, over more than two days up to every 5 minutes where the window is made of them, the last time at the last whole minute until `to`. Every window ends with a look and has its length exactly; those that would reach further back than 7 days are left out. Traces count as if they had been complete when they started.',
    permission: reading,
    schema: { body: dryRunRequest, response: { 200: dryRun } },
  },
  readAlert: {
    method: 'GET',
    url: `${alertsPath}/:id`,
    summary: 'Read an alert and how it stands',
    permission: reading,
    schema: { params, response: { 200: alert } },
  },
  changeAlert: {
    method: 'PATCH',
    url: `${alertsPath}/:id`,
    summary: 'Change, pause or continue an alert',
    description:
      'Only what is given changes; `condition` and `notifications` are replaced whole. With `enabled: false` it fires no more, and what waits to be sent of it is not sent; when it goes on it is evaluated anew.',
    permission: configuration,
    schema: { params, body: alertChanges, response: { 200: alert } },
  },
  deleteAlert: {
    method: 'DELETE',
    url: `${alertsPath}/:id`,
    summary: 'Delete an alert with its history',
    permission: configuration,
    schema: {
      params,
      response: { 200: Type.Object({ alertId: Type.String(), deleted: Type.Boolean() }) },
    },
  },
  readAlertHistory: {
    method: 'GET',
    url: `${alertsPath}/:id/history`,
    summary: 'Read when an alert fired and resolved, and what became of its messages',
    description: 'Of the last 30 days, the newest first.',
    permission: reading,
    schema: {
      params,
      query: Type.Object(pageQuery()),
      response: {
        200: Type.Object({
          history: Type.Array(event),
          ...pageAnswer,
        }),
      },
    },
  },
} as const satisfies Record<string, Route>;
