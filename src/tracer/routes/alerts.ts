import type { Static } from 'typebox';
import type { Handler } from '../../kit/http/call.ts';
import { Fault } from '../../kit/errors.ts';
import type { Identity } from '../../kit/identity/identity.ts';
import type { Log } from '../../kit/log.ts';
import { readTime } from '../../kit/time/time-text.ts';
import {
  maskOf,
  type Alert,
  type AlertEvent,
  type DeliveryState,
  type Notification,
  type SealedNotification,
} from '../alerts/alert.ts';
import type { AlertRequest, Alerts, DryRunRequest } from '../alerts/alerts.ts';
import { warningsOf, type AlertCondition } from '../alerts/condition.ts';
import type { alertRoutes as routes } from '../schemas/alerts.ts';

type AlertHandlers = { readonly [K in keyof typeof routes]: Handler<(typeof routes)[K]> };
type AlertBody = Static<typeof routes.changeAlert.schema.body>;
type DryRunBody = Static<typeof routes.dryRunAlert.schema.body>;

export interface AlertHandlerParts {
  readonly alerts: Alerts;
  readonly log: Log;
}

const firingsMax = 1_000;

/** The edge of the alerts. */
export function alertHandlers({ alerts, log }: AlertHandlerParts): AlertHandlers {
  const record = (change: string, alertId: string, { subject: by }: Identity) =>
    log.info({ alertId, by }, `an alert was ${change}`);
  return {
    createAlert: async ({ body, identity }) => {
      const { name, condition, notifications = [], severity = 'warning', enabled = true } = body;
      const request = {
        name,
        condition: toCondition(condition),
        notifications: notifications.map(toNotification),
        severity,
        isEnabled: enabled,
      };
      const alert = await alerts.create(request, identity.subject);
      record('created', alert.id, identity);
      return toAnswer(alert);
    },
    listAlerts: async ({ query }) => {
      const { alerts: found, total } = await alerts.list(query);
      const { limit, offset } = query;
      return { alerts: found.map(toAnswer), total, limit, offset };
    },
    dryRunAlert: async ({ body }) => {
      const condition = toCondition(body.condition);
      const dryRun = await alerts.dryRun(condition, rangeOf(body));
      const { from, to, firings, warnings, ...facts } = dryRun;
      return {
        from: from.toISOString(),
        to: to.toISOString(),
        ...facts,
        firings: firings.slice(0, firingsMax).map(({ firedAt, resolvedAt, peak }) => ({
          firedAt: firedAt.toISOString(),
          ...(resolvedAt && { resolvedAt: resolvedAt.toISOString() }),
          peak,
        })),
        totalFirings: firings.length,
        ...toWarnings(condition, warnings),
      };
    },
    readAlert: async ({ params }) => toAnswer(await alerts.read(params.id)),
    changeAlert: async ({ params, body, identity }) => {
      const alert = await alerts.change(params.id, toChanges(body));
      record('changed', alert.id, identity);
      return toAnswer(alert);
    },
    deleteAlert: async ({ params: { id }, identity }) => {
      await alerts.delete(id);
      record('deleted', id, identity);
      return { alertId: id, deleted: true };
    },
    readAlertHistory: async ({ params, query }) => {
      const { limit, offset } = query;
      const { events, total } = await alerts.history(params.id, query);
      return { history: events.map(toEvent), total, limit, offset };
    },
  };
}

function toChanges(body: AlertBody): Partial<AlertRequest> {
  const { name, condition, notifications, severity, enabled } = body;
  return {
    ...(name === undefined ? {} : { name }),
    ...(condition === undefined ? {} : { condition: toCondition(condition) }),
    ...(notifications === undefined ? {} : { notifications: notifications.map(toNotification) }),
    ...(severity === undefined ? {} : { severity }),
    ...(enabled === undefined ? {} : { isEnabled: enabled }),
  };
}

/** The known fields, for nothing else must be stored. */
function toCondition(condition: AlertCondition): AlertCondition {
  const { metric, operator, threshold, timeWindow, agentId, operation } = condition;
  return {
    metric,
    operator,
    threshold,
    timeWindow,
    ...(agentId === undefined ? {} : { agentId }),
    ...(operation === undefined ? {} : { operation }),
  };
}

type GivenNotification = NonNullable<AlertBody['notifications']>[number];

function toNotification(given: GivenNotification, place: number): Notification {
  const { type, webhook, channel, recipients } = given;
  if (type === 'email') return { type, recipients: recipients ?? missing(place, 'recipients') };
  return {
    type,
    webhook: webhook ?? missing(place, 'webhook'),
    ...(channel === undefined ? {} : { channel }),
  };
}

function missing(place: number, field: string): never {
  const param = `notifications.${place}.${field}`;
  const message = 'is missing';
  throw new Fault('invalid', `body.${param} ${message}`, {
    reason: 'validation_error',
    detail: { errors: [{ path: `body.${param}`, message }], param },
  });
}

const rangeHours = { '1h': 1, '24h': 24, '7d': 7 * 24 } as const;

function rangeOf({ from, to, timeRange }: DryRunBody): DryRunRequest {
  if (timeRange === undefined) {
    return {
      ...(from === undefined ? {} : { fromMs: readTime(from, 'from') }),
      ...(to === undefined ? {} : { toMs: readTime(to, 'to') }),
    };
  }
  if (from !== undefined || to !== undefined) {
    throw new Fault('invalid', '`timeRange` stands in place of `from` and `to`, not beside them', {
      reason: 'validation_error',
      detail: { param: 'timeRange' },
    });
  }
  return { lastMs: rangeHours[timeRange] * 60 * 60_000 };
}

function toAnswer(alert: Alert) {
  const { id, name, severity, condition, createdBy, firingSince, evaluatedAt, value } = alert;
  return {
    alertId: id,
    name,
    status: alert.isEnabled ? 'active' : 'paused',
    createdAt: alert.createdAt.toISOString(),
    updatedAt: alert.updatedAt.toISOString(),
    createdBy,
    enabled: alert.isEnabled,
    severity,
    condition,
    notifications: alert.notifications.map(toShown),
    state: alert.isFiring ? 'firing' : 'ok',
    ...(firingSince && { firingSince: firingSince.toISOString() }),
    ...(evaluatedAt && { lastEvaluatedAt: evaluatedAt.toISOString() }),
    ...(value === null ? {} : { lastValue: value }),
    ...toWarnings(condition),
  };
}

function toWarnings(
  condition: AlertCondition,
  further: readonly string[] = [],
): { readonly warnings?: string[] } {
  const warnings = [...warningsOf(condition), ...further];
  return warnings.length > 0 ? { warnings } : {};
}

function toShown(notification: SealedNotification) {
  if (notification.type === 'email') {
    return { type: 'email', recipients: [...notification.recipients] };
  }
  const { origin, channel } = notification;
  return {
    type: 'slack',
    webhook: maskOf(origin),
    ...(channel === undefined ? {} : { channel }),
  };
}

function toEvent({ id, kind, at, facts, deliveries }: AlertEvent) {
  const { name, severity, condition, value, traceIds } = facts;
  return {
    eventId: id,
    event: kind,
    at: at.toISOString(),
    name,
    severity,
    condition,
    ...(value === null ? {} : { value }),
    traceIds: [...traceIds],
    deliveries: deliveries.map(toDelivery),
  };
}

function toDelivery(delivery: DeliveryState) {
  const { notification, status, attempts, dueAt, deliveredAt, error } = delivery;
  return {
    type: notification.type,
    target: targetOf(notification),
    status,
    attempts,
    ...(status === 'pending' ? { nextAttemptAt: dueAt.toISOString() } : {}),
    ...(deliveredAt && { deliveredAt: deliveredAt.toISOString() }),
    ...(error === null ? {} : { error }),
  };
}

function targetOf(notification: SealedNotification): string {
  if (notification.type === 'email') return notification.recipients.join(', ');
  const { origin, channel } = notification;
  return channel === undefined ? maskOf(origin) : `${maskOf(origin)} ${channel}`;
}
