import { expect, test } from 'vitest';
import type { Alert } from '../parts/answers.ts';
import { bodyOf, draftOf, emptyDraft, tellCondition } from './draft.ts';

const alert: Alert = {
  alertId: 'a',
  name: 'Slow',
  status: 'active',
  createdAt: '',
  updatedAt: '',
  createdBy: 'admin',
  enabled: false,
  severity: 'high',
  condition: {
    metric: 'p95',
    operator: 'greaterThanOrEqual',
    threshold: 800,
    timeWindow: '15m',
    agentId: 'researcher',
  },
  notifications: [
    { type: 'slack', webhook: 'https://hooks.slack.com/***', channel: '#ops' },
    { type: 'email', recipients: ['a@example.com', 'b@example.com'] },
  ],
  state: 'ok',
};

test('an alert that goes through its form is sent as it was', () => {
  const { name, severity, enabled, condition, notifications } = alert;
  expect(bodyOf(draftOf(alert))).toEqual({ name, severity, enabled, condition, notifications });
});

test('what is empty is not sent', () => {
  expect(bodyOf({ ...emptyDraft, name: ' Many errors ' })).toEqual({
    name: 'Many errors',
    severity: 'medium',
    enabled: true,
    condition: {
      metric: 'error_rate',
      operator: 'greaterThan',
      threshold: 0.05,
      timeWindow: '5m',
    },
    notifications: [],
  });
});

test('a condition reads as a sentence', () => {
  expect(tellCondition(alert.condition)).toBe(
    'p95 of durations ≥ 800 over 15m, of agent researcher',
  );
});
