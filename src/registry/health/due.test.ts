import { expect, test } from 'vitest';
import type { Connection, ConnectionHealth } from '../connections/connection.ts';
import { isChangedForCheck, nextCheckMs, phaseOf } from './due.ts';
import { connectionOf } from './testing.ts';

const healthy: ConnectionHealth = {
  status: 'healthy',
  lastCheckMs: 1_000_000,
  checksPerformed: 1,
  failedChecks: 0,
  failuresInRow: 0,
};
const checked = { health: healthy };
const failing = (failuresInRow: number, interval = 30) => ({
  health: { ...healthy, failuresInRow },
  healthCheck: { enabled: true, interval, timeout: 50 },
});
const stdio = { protocol: 'stdio', endpoint: { command: 'server', args: [] } } as const;
/** At a time behind all checks. */
const nextMs = (connection: Connection) => nextCheckMs(connection, 2e6);
const secondsTo = (over: object) => ((nextMs(connectionOf('c', over)) ?? Number.NaN) - 1e6) / 1e3;

test('the first contact is made at once, whatever the settings say, unless there is nothing to ask', () => {
  const healthCheck = { enabled: false, interval: 30, timeout: 50 };
  expect(nextMs(connectionOf('c', { healthCheck }))).toBe(0);
  expect(nextMs(connectionOf('c', { healthCheck, ...checked }))).toBeUndefined();
  expect(nextMs(connectionOf('c', { endpoint: { url: '' } }))).toBeUndefined();
  expect(nextMs(connectionOf('c', { status: 'disconnected' }))).toBeUndefined();
});

test('a check is due after the interval, up to a tenth earlier by id', () => {
  expect(secondsTo(checked)).toBeGreaterThan(27);
  expect(secondsTo(checked)).toBeLessThanOrEqual(30);
  const phases = Array.from({ length: 1000 }, (_, at) => phaseOf(`con_0192aa${1e6 + at}`));
  const quarters = [0, 0.25, 0.5, 0.75].map(
    (from) => phases.filter((phase) => phase >= from && phase < from + 0.25).length,
  );
  expect(Math.min(...quarters)).toBeGreaterThan(150);
});

test('a failure is confirmed quickly, and what stays broken is asked ever less often', () => {
  const phase = 1 - 0.1 * phaseOf('c');
  const pauses = [1, 2, 3, 4, 5, 30].map((failures) => secondsTo(failing(failures)) / phase);
  expect(pauses.map((pause) => Math.round(pause))).toEqual([5, 5, 30, 60, 120, 300]);
  expect(Math.round(secondsTo(failing(9, 3_600)) / phase)).toBe(3_600);
});

test('an idle process that was well is left alone; one that failed, or a remote server, is not', () => {
  const idle = { ...stdio, status: 'idle' } as const;
  expect(nextMs(connectionOf('c', { ...idle, ...checked }))).toBeUndefined();
  expect(nextMs(connectionOf('c', idle))).toBe(0);
  expect(nextMs(connectionOf('c', { ...idle, ...failing(1) }))).toBeDefined();
  expect(nextMs(connectionOf('c', { status: 'idle', ...checked }))).toBeDefined();
});

test('a new endpoint, an approval, or new settings of a broken one end the wait', () => {
  const broken = connectionOf('c', { status: 'error', ...failing(3) });
  const isChanged = (over: object, before = broken) =>
    isChangedForCheck({ before, after: { ...before, ...over } });
  expect(isChanged({ endpoint: { url: 'http://other.test' } })).toBe(true);
  expect(isChanged({ endpoint: structuredClone(broken.endpoint) })).toBe(false);
  expect(isChanged({ healthCheck: { ...broken.healthCheck, interval: 9 } })).toBe(true);
  expect(isChanged({ status: 'active' })).toBe(true);
  expect(isChanged({ lastActiveAtMs: 7 })).toBe(false);
  const unapproved = connectionOf('c', stdio);
  expect(isChanged({ approval: { approvedBy: 'usr', approvedAtMs: 1 } }, unapproved)).toBe(true);
  const { healthCheck } = unapproved;
  expect(isChanged({ healthCheck: { ...healthCheck, interval: 9 } }, unapproved)).toBe(false);
});
