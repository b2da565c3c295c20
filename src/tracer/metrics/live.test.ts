import { expect, test } from 'vitest';
import { LiveWindow, type LiveTrace } from './live.ts';

const state = { activeTraces: 3, queuedRequests: 1 };
const startMs = Date.parse('2026-11-21T10:00:00.500Z');

function openWindow() {
  const clock = { nowMs: startMs };
  const live = new LiveWindow(() => clock.nowMs);
  /** Counts a trace that ended some time ago, at present unless told otherwise. */
  const add = (trace: Omit<LiveTrace, 'startMs'>, agoMs = 0) =>
    live.add({ ...trace, startMs: clock.nowMs - agoMs - trace.durationMs });
  return { clock, live, add };
}

test.each([
  ['three days ago', 3 * 86_400_000],
  ['a minute ago', 60_000],
  ['before the service began', 50_001],
])('a trace that ended %s is not of the last minute', (_title, agoMs) => {
  const { clock, live, add } = openWindow();
  clock.nowMs += 50_000;
  add({ agent: 'a', durationMs: 9_000, isError: true }, agoMs);
  expect(live.read(state)).toMatchObject({ metrics: { errorRate: 0 }, topAgents: [] });
});

test('a trace counts when it ended, however long it took, and at present if its clock is ahead', () => {
  const { clock, live, add } = openWindow();
  clock.nowMs += 10 * 60_000;
  add({ agent: 'long', durationMs: 300_000, isError: false }, 30_000);
  add({ agent: 'ahead', durationMs: 100, isError: false }, -3_600_000);
  const agents = () => live.read(state).topAgents.map(({ agentId }) => agentId);
  expect(agents().toSorted()).toEqual(['ahead', 'long']);
  clock.nowMs += 30_000;
  expect(agents()).toEqual(['ahead']);
  clock.nowMs += 30_000;
  expect(agents()).toEqual([]);
});

test('a trace that is said to have begun in 1970 counts, and leaves the latency as it is', () => {
  const { clock, live, add } = openWindow();
  clock.nowMs += 10_000;
  add({ agent: 'a', durationMs: 100, isError: false });
  live.add({ agent: 'a', startMs: 1, durationMs: clock.nowMs - 1, isError: true });
  expect(live.read(state)).toMatchObject({
    metrics: { requestsPerSecond: 0.2, averageLatency: 100, errorRate: 0.5 },
    topAgents: [{ agentId: 'a', requestsPerSecond: 0.2, averageLatency: 100 }],
  });
});

test('a service that has just started divides nothing by nothing', () => {
  const { live } = openWindow();
  expect(live.read(state)).toEqual({
    timestamp: '2026-11-21T10:00:00.500Z',
    metrics: { requestsPerSecond: 0, averageLatency: 0, errorRate: 0, ...state },
    topAgents: [],
  });
});

test('what is older than a minute is gone, also after a silence of hours', () => {
  const { clock, live, add } = openWindow();
  add({ agent: 'a', durationMs: 100, isError: true });
  clock.nowMs += 30_000;
  expect(live.read(state).metrics).toMatchObject({ errorRate: 1, averageLatency: 100 });
  clock.nowMs += 30_000;
  expect(live.read(state).metrics.requestsPerSecond).toBe(0);
  clock.nowMs += 10 * 3_600_000;
  add({ agent: 'b', durationMs: 50, isError: false });
  const { metrics, topAgents } = live.read(state);
  expect(metrics).toMatchObject({ errorRate: 0, averageLatency: 50 });
  expect(topAgents.map(({ agentId }) => agentId)).toEqual(['b']);
});

test('rates are over the minute, and over what there is of it right after the start', () => {
  const { clock, live, add } = openWindow();
  clock.nowMs += 10_000;
  for (let at = 0; at < 20; at += 1) add({ agent: 'a', durationMs: at, isError: at < 5 });
  expect(live.read(state).metrics).toMatchObject({ requestsPerSecond: 2, errorRate: 0.25 });
  clock.nowMs = startMs + 10 * 60_000 + 499;
  for (let at = 0; at < 120; at += 1) add({ agent: 'a', durationMs: 10, isError: false });
  expect(live.read(state).metrics.requestsPerSecond).toBeCloseTo(2, 1);
});

test('the ten busiest agents are told, however many there are', () => {
  const { live, add } = openWindow();
  for (let at = 0; at < 5_000; at += 1) {
    add({ agent: `agent-${at}`, durationMs: 10, isError: false });
  }
  for (let at = 0; at < 3; at += 1) add({ agent: 'agent-7', durationMs: 20, isError: false });
  const { metrics, topAgents } = live.read(state);
  expect(topAgents).toHaveLength(10);
  expect(topAgents[0]).toEqual({ agentId: 'agent-7', requestsPerSecond: 4, averageLatency: 18 });
  expect(metrics.requestsPerSecond).toBe(5_003);
});
