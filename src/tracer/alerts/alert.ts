import type { AlertCondition } from './condition.ts';

/** From the least to the most urgent; `warning` is the same as `medium`, as other tools call it. */
export const severities = ['info', 'low', 'medium', 'warning', 'high', 'critical'] as const;
export type Severity = (typeof severities)[number];

export interface EmailNotification {
  readonly type: 'email';
  readonly recipients: readonly string[];
}

/** Where messages of an alert go, as a caller says it. */
export type Notification =
  | { readonly type: 'slack'; readonly webhook: string; readonly channel?: string }
  | EmailNotification;

/** The same as it is stored: the webhook's address is a secret, but for its origin. */
export type SealedNotification =
  | {
      readonly type: 'slack';
      readonly origin: string;
      /** Opened with the alert's id as its context. */
      readonly webhook: string;
      readonly channel?: string;
    }
  | EmailNotification;

/** What may be said of an alert. */
export interface AlertSettings {
  readonly name: string;
  readonly condition: AlertCondition;
  readonly notifications: readonly SealedNotification[];
  readonly severity: Severity;
  readonly isEnabled: boolean;
}

/** An alert and how it stands. */
export interface Alert extends AlertSettings {
  readonly id: string;
  readonly revision: number;
  readonly isFiring: boolean;
  readonly firingSince: Date | null;
  readonly evaluatedAt: Date | null;
  /** What the last evaluation found; null for a window without traces. */
  readonly value: number | null;
  readonly createdBy: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** `silenced`: it was firing when it was paused. */
export type EventKind = 'fired' | 'resolved' | 'silenced';

/** What the messages of an event say. */
export interface AlertFacts {
  readonly name: string;
  readonly severity: Severity;
  readonly condition: AlertCondition;
  readonly value: number | null;
  /** When it fired; ISO 8601. */
  readonly firedAt: string;
  readonly traceIds: readonly string[];
}

export type DeliveryStatus = 'pending' | 'delivered' | 'failed' | 'cancelled';

/** A message of an event, to one of the alert's places. */
export interface DeliveryState {
  readonly notification: SealedNotification;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  readonly dueAt: Date;
  readonly deliveredAt: Date | null;
  /** Of the last attempt that failed, or what a delivery left out. */
  readonly error: string | null;
}

export interface AlertEvent {
  readonly id: string;
  readonly kind: EventKind;
  readonly at: Date;
  readonly facts: AlertFacts;
  readonly deliveries: readonly DeliveryState[];
}

/** A webhook as everybody may see it: `https://hooks.slack.com/***`. */
export function maskOf(origin: string): string {
  return `${origin}/***`;
}
