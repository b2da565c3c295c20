import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Contract } from '../../kit/contract.ts';
import { plainEnvelope } from '../../kit/envelope.ts';
import { Lifetime } from '../../kit/lifecycle.ts';
import { createTestServer, silentLog } from '../../kit/testing.ts';
import type { Database } from '../../kit/database/database.ts';
import type { Alerts } from '../alerts/alerts.ts';
import { openTracerDatabase } from '../series/testing.ts';
import { openAlerts, SetClock, SetMetrics } from '../alerts/testing.ts';
import { alertRoutes } from '../schemas/alerts.ts';
import { alertHandlers } from './alerts.ts';

const contract = {
  name: 'tracer',
  title: 'Tracer',
  version: '1.0.0',
  description: 'Alerts.',
  error: plainEnvelope.schema,
  routes: alertRoutes,
} as const satisfies Contract;

const lifetime = new Lifetime(silentLog);
const clock = new SetClock();
const metrics = new SetMetrics();
const tokens = { reader: '', operator: '', nobody: '' };
let server: Awaited<ReturnType<typeof createTestServer>>;
let database: Database;
let alerts: Alerts;

beforeAll(async () => {
  database = lifetime.own('the database', await openTracerDatabase());
  const dataFolder = await mkdtemp(join(tmpdir(), 'ennead-alert-routes-'));
  lifetime.defer('the folder', () => rm(dataFolder, { recursive: true }));
  alerts = lifetime.own('alerts', openAlerts({ sql: database, metrics, clock, dataFolder }));
  server = await createTestServer(contract);
  lifetime.defer('http', () => server.http.close(0));
  server.http.serve(contract, alertHandlers({ alerts, log: silentLog }));
  const sign = (permissions: string[]) => server.issuer.sign({ sub: 'usr_1', permissions });
  tokens.reader = await sign(['tracer:read']);
  tokens.operator = await sign(['tracer:read', 'tracer:configure']);
  tokens.nobody = await sign([]);
});

beforeEach(() => database.query('truncate tracer.alerts cascade'));

afterAll(() => lifetime[Symbol.asyncDispose]());

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

async function call(who: keyof typeof tokens, method: Method, path = '', payload?: object) {
  const headers = { authorization: `Bearer ${tokens[who]}` };
  const url = `/api/v1/alerts${path}`;
  const answer = await server.http.app.inject({
    method,
    url,
    headers,
    ...(payload ? { payload } : {}),
  });
  return { status: answer.statusCode, body: answer.json(), text: answer.body };
}

/** As the interface shows it. */
const shown = {
  name: 'High error rate',
  condition: { metric: 'error_rate', threshold: 0.05, operator: 'greaterThan', timeWindow: '5m' },
  notifications: [
    { type: 'slack', webhook: 'https://hooks.slack.com/services/T0/B0/secret', channel: '#alerts' },
    { type: 'email', recipients: ['ops@example.com'] },
  ],
  severity: 'critical',
};

const { condition } = shown;
const withCondition = (over: object) => ({ ...shown, condition: { ...condition, ...over } });
const withNotification = (one: object) => ({ ...shown, notifications: [one] });
const slack = { type: 'slack', webhook: 'https://hooks.slack.com/services/a' };

test.each([
  [{}, 'name'],
  [{ name: 'x' }, 'condition'],
  [{ ...shown, name: ' ' }, 'name'],
  [{ ...shown, name: 'two\nlines' }, 'name'],
  [{ ...shown, name: 'a\u0001b' }, 'name'],
  [{ ...shown, severity: 'apocalyptic' }, 'severity'],
  [{ ...shown, notifications: 'none' }, 'notifications'],
  [{ ...shown, notifications: Array.from({ length: 11 }, () => slack) }, 'notifications'],
  [withCondition({ metric: 'cpu' }), 'condition.metric'],
  [withCondition({ operator: '>' }), 'condition.operator'],
  [withCondition({ threshold: '0.05' }), 'condition.threshold'],
  [withCondition({ threshold: 1e300 }), 'condition.threshold'],
  [withCondition({ timeWindow: '5 minutes' }), 'condition.timeWindow'],
  [withCondition({ timeWindow: '10s' }), 'condition.timeWindow'],
  [withCondition({ timeWindow: '25h' }), 'condition.timeWindow'],
  [withCondition({ agentId: '' }), 'condition.agentId'],
  [withCondition({ operation: 'half \ud83d' }), 'condition.operation'],
  [withCondition({ agent: 'planner' }), 'condition.agent'],
  [
    withNotification({ type: 'email', recipients: ['a\udd25@b.c'] }),
    'notifications.0.recipients.0',
  ],
  [withNotification({ ...slack, channel: '\udd25' }), 'notifications.0.channel'],
  [withNotification({ type: 'pager' }), 'notifications.0.type'],
  [withNotification({ type: 'slack' }), 'notifications.0.webhook'],
  [withNotification({ type: 'email', webhook: slack.webhook }), 'notifications.0.recipients'],
  [withNotification({ type: 'slack', webhook: 'no address' }), 'notifications.0.webhook'],
  [
    withNotification({ type: 'slack', webhook: 'https://hooks.slack.com/***' }),
    'notifications.0.webhook',
  ],
  [withNotification({ type: 'email', recipients: [] }), 'notifications.0.recipients'],
  [withNotification({ type: 'email', recipients: ['a@b, c@d'] }), 'notifications.0.recipients.0'],
  [
    withNotification({ type: 'email', recipients: ['a@b\r\nBcc: c@d'] }),
    'notifications.0.recipients.0',
  ],
])('the alert %j is refused for its %s', async (body, param) => {
  const answer = await call('operator', 'POST', '', body);
  expect(answer.status).toBe(400);
  expect(answer.body.error).toMatchObject({ code: 'VALIDATION_ERROR' });
  expect(answer.body.error.details.param).toContain(param);
});

test('changing needs tracer:configure, reading tracer:read', async () => {
  const { body } = await call('operator', 'POST', '', shown);
  const one = `/${body.alertId}`;
  expect((await call('reader', 'POST', '', shown)).status).toBe(403);
  expect((await call('reader', 'PATCH', one, { enabled: false })).status).toBe(403);
  expect((await call('reader', 'DELETE', one)).status).toBe(403);
  expect((await call('nobody', 'GET', '')).status).toBe(403);
  expect((await call('nobody', 'GET', `${one}/history`)).status).toBe(403);
  expect((await call('nobody', 'POST', '/dry-run', { condition })).status).toBe(403);
  expect((await call('reader', 'GET', one)).status).toBe(200);
});

test('an alert that is not there is not found', async () => {
  const [method, paths] = ['GET', ['/alr_0', '/alr_0/history']] as const;
  for (const path of paths) {
    const answer = await call('operator', method, path);
    expect(answer).toMatchObject({ status: 404, body: { error: { code: 'ALERT_NOT_FOUND' } } });
  }
  expect((await call('operator', 'GET', '/alr_%00')).status).toBe(400);
  expect((await call('operator', 'PATCH', '/alr_0', { enabled: true })).status).toBe(404);
  expect((await call('operator', 'DELETE', '/alr_0')).status).toBe(404);
});

test('an alert is answered as the interface shows it, without the secret of its webhook', async () => {
  const created = await call('operator', 'POST', '', shown);
  expect(created.status).toBe(201);
  const { alertId } = created.body;
  expect(alertId).toMatch(/^alr_[0-9a-f]{32}$/);
  const now = new Date(clock.ms).toISOString();
  expect(created.body).toEqual({
    alertId,
    name: 'High error rate',
    status: 'active',
    createdAt: now,
    updatedAt: now,
    createdBy: 'usr_1',
    enabled: true,
    severity: 'critical',
    condition,
    notifications: [
      { type: 'slack', webhook: 'https://hooks.slack.com/***', channel: '#alerts' },
      { type: 'email', recipients: ['ops@example.com'] },
    ],
    state: 'ok',
  });
  expect((await call('reader', 'GET', `/${alertId}`)).body).toEqual(created.body);
  const list = await call('reader', 'GET', '?limit=1');
  expect(list.body).toEqual({ alerts: [created.body], total: 1, limit: 1, offset: 0 });
});

test('any script may name an alert', async () => {
  const agentId = 'büro/日本';
  const body = { ...withCondition({ agentId }), name: 'Fehler 🔥 größer' };
  const created = await call('operator', 'POST', '', body);
  expect(created.body).toMatchObject({ name: body.name, condition: { agentId } });
});

test('a condition that cannot be meant is accepted and warned of', async () => {
  const { status, body } = await call('operator', 'POST', '', withCondition({ threshold: 5 }));
  expect(status).toBe(201);
  expect(body.warnings).toEqual(['error_rate is a fraction from 0 to 1; for 5 percent say 0.05']);
});

test('only what is given changes, and what is deleted is gone', async () => {
  const { body } = await call('operator', 'POST', '', shown);
  const one = `/${body.alertId}`;
  clock.advance(1_000);
  const changes = { severity: 'low', enabled: false, unknown: 1 };
  const changed = await call('operator', 'PATCH', one, changes);
  const updatedAt = new Date(clock.ms).toISOString();
  expect(changed.body).toEqual({
    ...body,
    severity: 'low',
    enabled: false,
    status: 'paused',
    updatedAt,
  });
  const window = await call('operator', 'PATCH', one, {
    condition: { ...condition, timeWindow: '1s' },
  });
  expect(window.status).toBe(400);
  const deleted = await call('operator', 'DELETE', one);
  expect(deleted).toMatchObject({ status: 200, body: { alertId: body.alertId, deleted: true } });
  expect((await call('operator', 'GET', one)).status).toBe(404);
});

test('the history shows what fired, with its messages and without their secrets', async () => {
  const { body } = await call('operator', 'POST', '', {
    ...shown,
    notifications: [shown.notifications[1]],
  });
  Object.assign(metrics, { count: 4, errors: 2, traceIds: ['0a'] });
  clock.advance(10_000);
  await alerts.evaluate();
  await alerts.deliver();
  const at = new Date(clock.ms).toISOString();
  const { body: history } = await call('reader', 'GET', `/${body.alertId}/history?limit=5`);
  expect(history).toEqual({
    history: [
      {
        eventId: expect.stringMatching(/^ale_/),
        event: 'fired',
        at,
        name: 'High error rate',
        severity: 'critical',
        condition,
        value: 0.5,
        traceIds: ['0a'],
        deliveries: [
          {
            type: 'email',
            target: 'ops@example.com',
            status: 'failed',
            attempts: 1,
            error: 'no mail server is set: SMTP_URL is absent',
          },
        ],
      },
    ],
    total: 1,
    limit: 5,
    offset: 0,
  });
  const standing = await call('reader', 'GET', `/${body.alertId}`);
  expect(standing.body).toMatchObject({ state: 'firing', firingSince: at, lastValue: 0.5 });
});

test.each([
  [{}, 'condition'],
  [{ condition, timeRange: '30d' }, 'timeRange'],
  [{ condition, timeRange: '1h', from: '2026-11-21T00:00:00Z' }, 'timeRange'],
  [{ condition, from: 'yesterday' }, 'from'],
  [{ condition, from: '2026-11-21T00:00:00Z', to: '2026-11-20T00:00:00Z' }, 'from'],
  [{ condition, from: '2026-11-01T00:00:00Z' }, 'from'],
  [{ condition, from: '2027-01-01T00:00:00Z' }, 'from'],
  [{ condition: { ...condition, timeWindow: '1s' } }, 'condition.timeWindow'],
])('the dry run %j is refused for its %s', async (body, param) => {
  const answer = await call('reader', 'POST', '/dry-run', body);
  expect(answer).toMatchObject({ status: 400, body: { error: { details: { param } } } });
});

test('a dry run tells when the alert would have fired', async () => {
  const minuteMs = Math.floor(clock.ms / 60_000) * 60_000;
  const startUs = (minuteMs - 20 * 60_000) * 1_000;
  metrics.steps = [{ startUs, count: 2, errors: 1, sumUs: 9, bins: [1], binCounts: [2] }];
  const body = { condition, timeRange: '1h' };
  const answer = await call('reader', 'POST', '/dry-run', body);
  expect(answer.body).toEqual({
    from: new Date(minuteMs - 60 * 60_000).toISOString(),
    to: new Date(minuteMs).toISOString(),
    evaluations: 60,
    stepMinutes: 1,
    firings: [
      {
        firedAt: new Date(minuteMs - 19 * 60_000).toISOString(),
        resolvedAt: new Date(minuteMs - 14 * 60_000).toISOString(),
        peak: 0.5,
      },
    ],
    totalFirings: 1,
  });
  const short = { condition: { ...condition, timeWindow: '30s' }, timeRange: '1h' };
  const { warnings } = (await call('reader', 'POST', '/dry-run', short)).body;
  expect(warnings).toEqual([expect.stringContaining('looks at whole minutes only')]);
});

test('a dry run leaves out the windows that reach further back than seven days', async () => {
  metrics.steps = [];
  const silence = { metric: 'request_rate', operator: 'lessThan', threshold: 1, timeWindow: '24h' };
  const body = { condition: silence, timeRange: '7d' };
  const { from, to } = (await call('reader', 'POST', '/dry-run', body)).body;
  const days = (Date.parse(to) - Date.parse(from)) / 86_400_000;
  expect(days).toBeGreaterThan(5.99);
  expect(days).toBeLessThanOrEqual(6);
});
