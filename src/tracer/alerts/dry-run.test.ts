import { expect, test } from 'vitest';
import { binOf } from '../series/histogram.ts';
import type { AlertCondition } from './condition.ts';
import { runDry } from './dry-run.ts';
import type { MetricStep } from './metric-source.ts';
import { SetMetrics } from './testing.ts';

const minuteMs = 60_000;
const startMs = Date.UTC(2026, 10, 21);
const at = (minutes: number) => new Date(startMs + minutes * minuteMs);

/** So many traces of one duration in one minute after the start. */
function step(minute: number, count: number, over: { errors?: number; ms?: number } = {}) {
  const { errors = 0, ms = 100 } = over;
  const bins = [binOf(ms * 1_000)];
  const startUs = (startMs + minute * minuteMs) * 1_000;
  return { startUs, count, errors, sumUs: count * ms * 1_000, bins, binCounts: [count] };
}

const condition = (over: Partial<AlertCondition> = {}): AlertCondition => ({
  metric: 'error_rate',
  operator: 'greaterThan',
  threshold: 0.1,
  timeWindow: '5m',
  ...over,
});

async function run(over: Partial<AlertCondition>, steps: MetricStep[], minutes = 30) {
  const metrics = new SetMetrics();
  metrics.steps = steps;
  const range = { fromMs: startMs, toMs: startMs + minutes * minuteMs };
  return { ...(await runDry(metrics, condition(over), range)), asked: metrics.asked };
}

test('nothing fires over a past without traces, but what waits for silence', async () => {
  expect((await run({}, [])).firings).toEqual([]);
  expect((await run({ metric: 'p50', operator: 'lessThan', threshold: 9 }, [])).firings).toEqual(
    [],
  );
  const silence = await run({ metric: 'request_rate', operator: 'equal', threshold: 0 }, []);
  expect(silence).toMatchObject({ evaluations: 30, firings: [{ firedAt: at(1), peak: 0 }] });
  expect(silence.firings[0]).not.toHaveProperty('resolvedAt');
});

test('a burst fires until it has left the window, and the peak is told', async () => {
  const { firings } = await run({}, [step(10, 8), step(11, 2, { errors: 2 }), step(12, 30)]);
  expect(firings).toEqual([{ firedAt: at(12), resolvedAt: at(13), peak: 0.2 }]);
  const count = await run({ metric: 'error_count', threshold: 1 }, [step(10, 2, { errors: 2 })]);
  expect(count.firings).toEqual([{ firedAt: at(11), resolvedAt: at(16), peak: 2 }]);
});

test('what came before the range counts where its windows begin', async () => {
  const { firings, asked } = await run({ metric: 'error_count', threshold: 0 }, [
    step(-4, 1, { errors: 1 }),
    step(-5, 1, { errors: 1 }),
  ]);
  expect(firings).toEqual([{ firedAt: at(1), resolvedAt: at(2), peak: 1 }]);
  expect(asked[0]?.fromUs).toBe((startMs - 4 * minuteMs) * 1_000);
});

test('percentiles are those of the whole window, and parts of a step count together', async () => {
  const steps = [step(1, 90), step(2, 5), step(2, 6, { ms: 9_000 })];
  const { firings } = await run({ metric: 'p95', threshold: 1_000 }, steps);
  expect(firings).toHaveLength(1);
  expect(firings[0]).toMatchObject({ firedAt: at(3), resolvedAt: at(8) });
  expect(Math.abs((firings[0]?.peak ?? 0) / 9_000 - 1)).toBeLessThan(0.01);
});

test('an alert that fires twice is told twice, and the last may still fire', async () => {
  const errors = [3, 20, 28].map((minute) => step(minute, 1, { errors: 1 }));
  const { firings } = await run({ timeWindow: '1m' }, errors, 29);
  expect(firings.map(({ firedAt }) => firedAt)).toEqual([at(4), at(21), at(29)]);
  expect(firings.map(({ resolvedAt }) => resolvedAt)).toEqual([at(5), at(22), undefined]);
});

test.each([
  ['5m', 5, 2_016],
  ['1h', 5, 2_016],
  ['3m', 3, 3_360],
  ['1m', 1, 10_080],
  ['30s', 1, 10_080],
  ['150s', 1, 10_080],
])('over seven days a window of %s is looked at every %i minutes', async (timeWindow, ...rest) => {
  const [stepMinutes, evaluations] = rest;
  const dry = await run({ timeWindow }, [], 7 * 24 * 60);
  expect(dry).toMatchObject({ stepMinutes, evaluations });
});

test('the last look is at the last whole minute, and nothing is said of what comes after', async () => {
  const metrics = new SetMetrics();
  metrics.steps = [0, 1, 2].map((minute) => step(minute, 60));
  metrics.steps.push(step(3, 30, { errors: 1 }));
  const range = { fromMs: startMs + 1, toMs: startMs + 3.5 * minuteMs };
  const silent = condition({ metric: 'request_rate', operator: 'lessThan', threshold: 0.9 });
  const dry = await runDry(metrics, { ...silent, timeWindow: '1m' }, range);
  expect(dry).toMatchObject({ evaluations: 3, from: at(0), to: at(3), firings: [] });
  const errors = condition({ metric: 'error_count', threshold: 0, timeWindow: '1m' });
  expect((await runDry(metrics, errors, range)).firings).toEqual([]);
  const next = { fromMs: startMs + 3.2 * minuteMs, toMs: startMs + 4 * minuteMs };
  expect((await runDry(metrics, errors, next)).firings).toEqual([{ firedAt: at(4), peak: 1 }]);
});

test('a range without a whole minute has no look', async () => {
  const metrics = new SetMetrics();
  const range = { fromMs: startMs + 10_000, toMs: startMs + 50_000 };
  const silence = condition({ metric: 'request_rate', operator: 'equal', threshold: 0 });
  expect(await runDry(metrics, silence, range)).toMatchObject({ evaluations: 0, firings: [] });
});
