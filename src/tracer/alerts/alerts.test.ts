import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Database } from '../../kit/database/database.ts';
import type { Alert } from './alert.ts';
import type { Alerts } from './alerts.ts';
import { moveAlert } from './event-store.ts';
import { claimDeliveries } from './outbox-store.ts';
import { openTracerDatabase } from '../series/testing.ts';
import {
  openAlerts,
  requestOf,
  SetClock,
  SetMetrics,
  startHook,
  startMail,
  type HookServer,
} from './testing.ts';

let database: Database;
let dataFolder: string;
let hook: HookServer;
let metrics: SetMetrics;
let clock: SetClock;

beforeAll(async () => {
  database = await openTracerDatabase();
  dataFolder = await mkdtemp(join(tmpdir(), 'ennead-alerts-'));
  hook = await startHook();
});

beforeEach(async () => {
  await database.query('truncate tracer.alerts cascade');
  metrics = new SetMetrics();
  clock = new SetClock();
  hook.posts.length = 0;
  hook.answers = [];
});

afterAll(async () => {
  await hook[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
  await rm(dataFolder, { recursive: true });
});

const open = (environment = {}) =>
  openAlerts({ sql: database, metrics, clock, dataFolder, environment });
const slack = () => ({ type: 'slack', webhook: hook.url, channel: '#ops' }) as const;
const email = (...recipients: string[]) => ({ type: 'email', recipients }) as const;
const firstPage = { limit: 20, offset: 0 };

/** Ten seconds later: everything is evaluated, and what came of it has been tried. */
async function tick(...replicas: Alerts[]): Promise<void> {
  clock.advance(10_000);
  await Promise.all(replicas.map((alerts) => alerts.evaluate()));
  await Promise.all(replicas.map((alerts) => alerts.deliver()));
}

const fail = () => Object.assign(metrics, { count: 10, errors: 5 });
const recover = () => Object.assign(metrics, { count: 10, errors: 0 });

async function deliveriesOf(alerts: Alerts, { id }: Alert) {
  const { events } = await alerts.history(id, firstPage);
  return events.flatMap(({ kind, deliveries }) =>
    deliveries.map(({ status, attempts, error }) => ({ kind, status, attempts, error })),
  );
}

test('an alert fires once, however often its condition holds, and resolves once', async () => {
  await using alerts = open();
  const { id } = await alerts.create(requestOf({ notifications: [slack()] }), 'usr_1');
  await tick(alerts);
  expect(hook.posts).toEqual([]);
  fail();
  metrics.traceIds = ['aa', 'bb', 'cc'];
  for (let count = 0; count < 3; count += 1) await tick(alerts);
  expect(hook.posts).toHaveLength(1);
  expect(hook.posts[0]).toMatchObject({
    text: '[critical] checkout fails is firing: error_rate is 0.5 over 5m, greaterThan 0.1',
    channel: '#ops',
  });
  expect(JSON.stringify(hook.posts[0])).toContain('aa, bb, cc');
  const firing = await alerts.read(id);
  expect(firing).toMatchObject({ isFiring: true, value: 0.5, evaluatedAt: new Date(clock.ms) });
  expect(firing.firingSince).toEqual(new Date(clock.ms - 20_000));
  recover();
  for (let count = 0; count < 3; count += 1) await tick(alerts);
  expect(hook.posts).toHaveLength(2);
  expect(hook.posts[1].text).toContain('checkout fails is resolved: error_rate is 0 over 5m');
  expect(await alerts.read(id)).toMatchObject({ isFiring: false, firingSince: null });
  const { events, total } = await alerts.history(id, firstPage);
  expect(total).toBe(2);
  expect(events.map(({ kind }) => kind)).toEqual(['resolved', 'fired']);
  expect(events[1]?.facts).toMatchObject({ value: 0.5, traceIds: ['aa', 'bb', 'cc'] });
});

test('a window begins exactly as long ago as it says, and all alerts on it ask once', async () => {
  await using alerts = open();
  const condition = { ...requestOf().condition, timeWindow: '90s', agentId: 'a', operation: 'o' };
  await alerts.create(requestOf({ condition }), 'usr_1');
  await alerts.create(requestOf({ condition: { ...condition, metric: 'p95' } }), 'usr_1');
  await tick(alerts);
  const toUs = (Math.floor(clock.ms / 60_000) + 1) * 60_000_000;
  const fromUs = (clock.ms - 90_000) * 1_000;
  expect(metrics.asked).toEqual([{ fromUs, toUs, agent: 'a', operation: 'o' }]);
});

test('a rate is by the seconds of the window', async () => {
  await using alerts = open();
  const condition = { metric: 'request_rate', operator: 'equal', threshold: 0.25 } as const;
  const request = requestOf({ condition: { ...condition, timeWindow: '40s' } });
  const { id } = await alerts.create(request, 'usr_1');
  metrics.count = 10;
  await tick(alerts);
  expect(await alerts.read(id)).toMatchObject({ isFiring: true, value: 0.25 });
});

test('without traces a firing alert resolves, and one on silence fires', async () => {
  await using alerts = open();
  await alerts.create(requestOf({ notifications: [slack()] }), 'usr_1');
  fail();
  await tick(alerts);
  metrics.count = 0;
  await tick(alerts);
  expect(hook.posts[1].text).toContain('resolved: error_rate is without traces over 5m');
  const condition = { metric: 'request_rate', operator: 'lessThan', threshold: 1 } as const;
  const request = requestOf({ condition: { ...condition, timeWindow: '5m' } });
  const { id } = await alerts.create(request, 'usr_1');
  await tick(alerts);
  expect(await alerts.read(id)).toMatchObject({ isFiring: true, value: 0 });
});

test('what cannot be measured fires nothing, resolves nothing and stops no other', async () => {
  await using alerts = open();
  const { id } = await alerts.create(requestOf({ notifications: [slack()] }), 'usr_1');
  fail();
  await tick(alerts);
  metrics.failure = new Error('away');
  await tick(alerts);
  expect(await alerts.read(id)).toMatchObject({ isFiring: true, value: 0.5 });
  expect(hook.posts).toHaveLength(1);
});

test('a message without example traces is better than none, and a name mentions nobody', async () => {
  await using alerts = open();
  await alerts.create(requestOf({ name: '<!channel> & co', notifications: [slack()] }), 'usr_1');
  fail();
  metrics.examples = () => Promise.reject(new Error('away'));
  await tick(alerts);
  expect(hook.posts).toHaveLength(1);
  expect(JSON.stringify(hook.posts[0])).not.toContain('Example traces');
  expect(hook.posts[0].text).toContain('&lt;!channel&gt; &amp; co is firing');
});

test('of two replicas that find the same, one delivers', async () => {
  await using one = open();
  await using other = open();
  for (let count = 0; count < 5; count += 1) {
    await one.create(requestOf({ notifications: [slack()] }), 'usr_1');
  }
  fail();
  await tick(one, other);
  await tick(other, one);
  expect(hook.posts).toHaveLength(5);
});

test('the move itself is decided once, and not by what was found about another condition', async () => {
  await using alerts = open();
  const { id } = await alerts.create(requestOf({ notifications: [slack()] }), 'usr_1');
  const move = (revision: number, eventId: string) =>
    moveAlert(database, {
      alertId: id,
      revision,
      eventId,
      kind: 'fired',
      at: new Date(clock.ms),
      facts: { ...requestOf(), value: 1, firedAt: new Date(clock.ms).toISOString(), traceIds: [] },
    });
  await alerts.change(id, { severity: 'low' });
  expect(await move(1, 'ale_old')).toBe(false);
  const moved = await Promise.all(['ale_1', 'ale_2', 'ale_3'].map((event) => move(2, event)));
  expect(moved.filter(Boolean)).toHaveLength(1);
  await alerts.deliver();
  expect(hook.posts).toHaveLength(1);
});

test('a webhook that fails at first is tried again, and the resolution waits behind it', async () => {
  await using alerts = open();
  const alert = await alerts.create(requestOf({ notifications: [slack()] }), 'usr_1');
  hook.answers = [
    { status: 500 },
    { status: 429, headers: { 'retry-after': '60' } },
    { status: 200 },
  ];
  fail();
  await tick(alerts);
  const reason = 'the webhook answered 500';
  const pending = { kind: 'fired', status: 'pending', attempts: 1, error: reason };
  expect(await deliveriesOf(alerts, alert)).toEqual([pending]);
  recover();
  await tick(alerts);
  expect(hook.posts).toHaveLength(2);
  await tick(alerts);
  expect(hook.posts).toHaveLength(2);
  clock.advance(60_000);
  await alerts.deliver();
  expect(hook.posts.map(({ text }) => /firing|resolved/.exec(text)?.[0])).toEqual([
    'firing',
    'firing',
    'firing',
    'resolved',
  ]);
  expect(await deliveriesOf(alerts, alert)).toEqual([
    { kind: 'resolved', status: 'delivered', attempts: 1, error: null },
    { kind: 'fired', status: 'delivered', attempts: 3, error: null },
  ]);
});

test('a webhook that refuses for good is not tried again, and its word is kept', async () => {
  await using alerts = open();
  const alert = await alerts.create(requestOf({ notifications: [slack()] }), 'usr_1');
  hook.answers = [{ status: 404, body: 'no_service' }];
  fail();
  await tick(alerts);
  clock.advance(60 * 60_000);
  await alerts.deliver();
  const error = 'the webhook answered 404 (no_service)';
  expect(await deliveriesOf(alerts, alert)).toEqual([
    { kind: 'fired', status: 'failed', attempts: 1, error },
  ]);
});

test('what was not delivered before a stop is delivered after the next start', async () => {
  const before = open();
  const alert = await before.create(requestOf({ notifications: [slack()] }), 'usr_1');
  hook.answers = [{ status: 503 }, { status: 200 }];
  fail();
  await tick(before);
  await before[Symbol.asyncDispose]();
  await using after = open();
  clock.advance(10_000);
  after.start();
  await after.evaluate();
  await after.deliver();
  expect(await deliveriesOf(after, alert)).toMatchObject([{ status: 'delivered', attempts: 2 }]);
});

test('what a killed process had claimed is sent by another, not before its time', async () => {
  await using alerts = open();
  const alert = await alerts.create(requestOf({ notifications: [slack()] }), 'usr_1');
  fail();
  clock.advance(10_000);
  await moveAlert(database, {
    alertId: alert.id,
    revision: alert.revision,
    eventId: 'ale_1',
    kind: 'fired',
    at: new Date(clock.ms),
    facts: { ...requestOf(), value: 1, firedAt: new Date(clock.ms).toISOString(), traceIds: [] },
  });
  const claim = { now: new Date(clock.ms), leaseMs: 60_000, countMax: 8 };
  expect(await claimDeliveries(database, claim)).toHaveLength(1);
  clock.advance(59_999);
  await alerts.deliver();
  expect(hook.posts).toEqual([]);
  clock.advance(1);
  await alerts.deliver();
  expect(hook.posts).toHaveLength(1);
  expect(await deliveriesOf(alerts, alert)).toMatchObject([{ status: 'delivered', attempts: 2 }]);
});

test('a message that ends every process that sends it is given up', async () => {
  await using alerts = open();
  const alert = await alerts.create(requestOf({ notifications: [slack()] }), 'usr_1');
  hook.answers = [{ status: 500 }];
  fail();
  await tick(alerts);
  await database.query('update tracer.alert_deliveries set attempts = 12');
  clock.advance(60_000);
  await alerts.deliver();
  expect(hook.posts).toHaveLength(1);
  const error = 'the last attempt ended with its process';
  expect(await deliveriesOf(alerts, alert)).toMatchObject([{ status: 'failed', error }]);
});

test('a paused alert is silent: it fires no more, and what waits is not sent', async () => {
  await using alerts = open();
  const alert = await alerts.create(requestOf({ notifications: [slack()] }), 'usr_1');
  hook.answers = [{ status: 500 }, { status: 200 }];
  fail();
  await tick(alerts);
  expect(await alerts.change(alert.id, { isEnabled: false })).toMatchObject({ isFiring: false });
  clock.advance(60_000);
  await tick(alerts);
  expect(hook.posts).toHaveLength(1);
  const { events } = await alerts.history(alert.id, firstPage);
  expect(events.map(({ kind }) => kind)).toEqual(['silenced', 'fired']);
  expect(events[0]?.facts).toMatchObject({ value: 0.5, firedAt: events[1]?.facts.firedAt });
  expect(await deliveriesOf(alerts, alert)).toMatchObject([{ status: 'cancelled' }]);
  await alerts.change(alert.id, { isEnabled: true });
  await tick(alerts);
  expect(hook.posts).toHaveLength(2);
  expect(hook.posts[1].text).toContain('is firing');
});

test('another condition is looked at at once, and a firing alert resolves by it', async () => {
  await using alerts = open();
  const { id } = await alerts.create(requestOf({ notifications: [slack()] }), 'usr_1');
  fail();
  await tick(alerts);
  const changed = await alerts.change(id, {
    condition: { ...requestOf().condition, threshold: 0.9 },
  });
  expect(changed).toMatchObject({ isFiring: true, value: null });
  await alerts.evaluate();
  await alerts.deliver();
  expect(hook.posts.at(-1).text).toContain('is resolved');
});

test('a webhook lies sealed in the database, and is kept where it comes back as shown', async () => {
  await using alerts = open();
  const { id } = await alerts.create(requestOf({ notifications: [slack()] }), 'usr_1');
  const shown = `${new URL(hook.url).origin}/***`;
  await alerts.change(id, {
    notifications: [email('a@example.com'), { type: 'slack', webhook: shown, channel: '@me' }],
  });
  const rows = await database.query<{ text: string }>(
    'select notifications::text as text from tracer.alerts',
  );
  expect(rows[0]?.text).not.toContain('very-secret');
  const keys = await readFile(join(dataFolder, 'secrets', 'key-1'));
  expect(keys).toHaveLength(32);
  fail();
  await tick(alerts);
  expect(hook.posts).toMatchObject([{ channel: '@me' }]);
  const unknown = { type: 'slack', webhook: 'https://hooks.slack.com/***' } as const;
  await expect(alerts.change(id, { notifications: [unknown] })).rejects.toMatchObject({
    code: 'invalid',
    message: expect.stringContaining('notifications.0.webhook must be given whole'),
  });
});

test('an address of the inner network is refused', async () => {
  const options = { sql: database, metrics, clock, dataFolder, isLoopbackAllowed: false };
  await using alerts = openAlerts(options);
  const create = (webhook: string) =>
    alerts.create(requestOf({ notifications: [{ type: 'slack', webhook }] }), 'usr_1');
  await expect(create(hook.url)).rejects.toMatchObject({ code: 'forbidden' });
  await expect(create('http://169.254.169.254/x')).rejects.toMatchObject({ code: 'forbidden' });
  await expect(create('ftp://example.com')).rejects.toMatchObject({ code: 'invalid' });
  await expect(create('https://u:p@example.com/')).rejects.toMatchObject({ code: 'invalid' });
});

test('the two hundred and first alert is refused', async () => {
  await using alerts = open();
  await alerts.create(requestOf(), 'usr_1');
  await database.query(
    `insert into tracer.alerts (id, name, condition, notifications, severity, is_enabled,
       created_by, created_at, updated_at)
     select 'alr_' || n, name, condition, notifications, severity, false, created_by, created_at,
       updated_at from tracer.alerts, generate_series(1, 199) as n`,
  );
  await expect(alerts.create(requestOf(), 'usr_1')).rejects.toMatchObject({
    code: 'conflict',
    reason: 'too_many_alerts',
  });
});

test('without a mail server an email fails with a clear reason', async () => {
  await using alerts = open();
  const notifications = [email('a@example.com'), slack()];
  const alert = await alerts.create(requestOf({ notifications }), 'usr_1');
  fail();
  await tick(alerts);
  const error = 'no mail server is set: SMTP_URL is absent';
  expect(await deliveriesOf(alerts, alert)).toEqual([
    { kind: 'fired', status: 'failed', attempts: 1, error },
    { kind: 'fired', status: 'delivered', attempts: 1, error: null },
  ]);
});

test('an email says the same in plain text, also when it resolves', async () => {
  await using mail = await startMail();
  await using alerts = open({ SMTP_URL: mail.url, SMTP_FROM: 'Ennead <alerts@example.com>' });
  const notifications = [email('a@example.com', 'b@example.com')];
  await alerts.create(requestOf({ notifications, name: 'größer <b>' }), 'usr_1');
  fail();
  await tick(alerts);
  recover();
  await tick(alerts);
  const { from, to, text = '' } = mail.mails[0] ?? {};
  expect({ from, to }).toEqual({
    from: 'alerts@example.com',
    to: ['a@example.com', 'b@example.com'],
  });
  expect(text).toMatch(/^Subject: =\?UTF-8\?/m);
  expect(text).toContain('Metric: error_rate');
  expect(text).toContain('Auto-Submitted: auto-generated');
  expect(mail.mails[1]?.text).toContain('Status: resolved');
});

test('a mail server that is busy is asked again, one that refuses for good is not', async () => {
  const answers = [450, 550];
  await using mail = await startMail({
    onRcptTo: ({ address }, _session, done) => {
      const responseCode = address.startsWith('good') ? undefined : answers.shift();
      done(responseCode === undefined ? null : Object.assign(new Error('no'), { responseCode }));
    },
  });
  await using alerts = open({ SMTP_URL: mail.url });
  const busy = await alerts.create(requestOf({ notifications: [email('bad@example.com')] }), 'u');
  fail();
  await tick(alerts);
  const error = 'the mail server failed: it answered 450';
  expect(await deliveriesOf(alerts, busy)).toMatchObject([{ status: 'pending', error }]);
  clock.advance(10_000);
  await alerts.deliver();
  expect(await deliveriesOf(alerts, busy)).toMatchObject([{ status: 'failed', attempts: 2 }]);
  answers.push(550);
  const recipients = email('bad@example.com', 'good@example.com');
  const some = await alerts.create(requestOf({ notifications: [recipients] }), 'u');
  await tick(alerts);
  expect(await deliveriesOf(alerts, some)).toMatchObject([
    { status: 'delivered', error: 'the mail server refused bad@example.com' },
  ]);
});

test('a mail server that is not there is tried again; an address of none refuses the start', async () => {
  await using alerts = open({ SMTP_URL: 'smtp://127.0.0.1:1' });
  const notifications = [email('a@example.com')];
  const alert = await alerts.create(requestOf({ notifications }), 'usr_1');
  fail();
  await tick(alerts);
  expect(await deliveriesOf(alerts, alert)).toMatchObject([{ status: 'pending', attempts: 1 }]);
  expect(() => open({ SMTP_URL: 'mail.example.com' })).toThrow(/SMTP_URL must be an address/);
});

test('history older than thirty days is gone', async () => {
  await using alerts = open();
  const { id } = await alerts.create(requestOf(), 'usr_1');
  fail();
  await tick(alerts);
  clock.advance(31 * 24 * 60 * 60_000);
  recover();
  await tick(alerts);
  const { events } = await alerts.history(id, firstPage);
  expect(events.map(({ kind }) => kind)).toEqual(['resolved']);
});
