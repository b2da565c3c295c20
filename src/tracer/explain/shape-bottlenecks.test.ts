import { Value } from 'typebox/value';
import { expect, test } from 'vitest';
import { baselineKey } from '../intake/baseline-table.ts';
import { bottlenecks, type BottlenecksAnswer } from '../schemas/explain-answers.ts';
import type { Baseline } from '../trace/analysis.ts';
import { spanKinds } from '../trace/span.ts';
import type { CriticalPathAnswer, TraceDetail } from '../schemas/trace-answers.ts';
import { randomTrace as askewTrace } from '../trace/testing.ts';
import { criticalPathView } from '../trace/views/critical-path-view.ts';
import { detailView } from '../trace/views/detail-view.ts';
import { bottlenecksView } from './bottlenecks-view.ts';
import { compareView } from './compare-view.ts';
import { draw, idOf, randomTrace, storedTrace, type Drawn } from './testing.ts';
import { whatIfView } from './what-if-view.ts';

const database = { callee: { type: 'database', name: 'postgresql' } } as const;

function answerTo(drawn: readonly Drawn[], usualMs: Readonly<Record<string, number>> = {}) {
  const baselines = new Map(
    Object.entries(usualMs).map(([name, ms]) => [
      baselineKey({ service: 'shop', name, kind: spanKinds.client }),
      usual(ms),
    ]),
  );
  const answer = bottlenecksView(storedTrace(drawn.map(draw)), { baselines }) as BottlenecksAnswer;
  expect(Value.Check(bottlenecks, answer)).toBe(true);
  expect(answer.totalBottlenecks).toBe(answer.bottlenecks.length);
  const ids = answer.bottlenecks.map(({ spanId }) => spanId);
  expect(new Set(ids).size).toBe(ids.length);
  return answer;
}

/** A history whose quartiles lie close around the median. */
function usual(ms: number): Baseline {
  const times = { count: 100, p25Us: ms * 930, p50Us: ms * 1_000, p75Us: ms * 1_075 };
  return { duration: times, self: times };
}

const selects: Drawn[] = [
  { id: 'root', from: 0, to: 600 },
  ...Array.from({ length: 20 }, (_, at): Drawn => {
    const from = 10 + at * 28;
    const length = at === 7 ? 26 : 25;
    return {
      id: `q${at}`,
      name: 'SELECT',
      in: 'root',
      kind: 'client',
      from,
      to: from + length,
      ...database,
    };
  }),
];

const root: Drawn = { id: 'root', from: 0, to: 1_000 };
const shortPath: Drawn[] = [
  root,
  { id: 'a', in: 'root', kind: 'client', from: 0, to: 10 },
  { id: 'b', in: 'root', kind: 'client', from: 10, to: 19 },
];

test('a shape that saves less than a hundredth of its trace is no bottleneck', () => {
  const answer = answerTo(shortPath.map((span) => (span === root ? { ...root, to: 901 } : span)));
  expect(answer.bottlenecks.filter(({ spanId }) => spanId !== idOf('root'))).toEqual([]);
});

test('statements that repeat are one bottleneck, by their heaviest, and the trace is poor', () => {
  const answer = answerTo(selects);
  expect(answer.overallPerformance).toBe('poor');
  expect(answer.bottlenecks[0]).toMatchObject({
    spanId: idOf('q7'),
    reason: 'n-plus-one',
    severity: 'critical',
    duration: 501,
    expectedDuration: 26,
    slowdownFactor: 19.27,
    savingMs: 475,
    onCriticalPath: true,
    recommendations: [expect.stringMatching(/^SELECT is called 20 times one after another/)],
  });
});

test('a statement slow by its history keeps its entry, the repetition names another', () => {
  const drawn = selects.map((span) => (span.id === 'q7' ? { ...span, name: 'SELECT ' } : span));
  const answer = answerTo(drawn, { 'SELECT ': 5 });
  const reasons = answer.bottlenecks.map(({ spanId, reason }) => [spanId, reason]);
  expect(reasons).toEqual([
    [expect.not.stringMatching(idOf('q7')), 'n-plus-one'],
    [idOf('q7'), 'slow'],
  ]);
});

test('statements that are all listed by their history give way to their repetition in one', () => {
  const answer = answerTo(selects, { SELECT: 15 });
  expect(answer.bottlenecks[0]).toMatchObject({ spanId: idOf('q7'), reason: 'n-plus-one' });
  expect(answer.bottlenecks.slice(1).every(({ reason }) => reason === 'slow')).toBe(true);
  expect(answer).toMatchObject({ totalBottlenecks: 20, overallPerformance: 'poor' });
});

test.each([
  [[300, 300, 400], 600, 'critical', 'poor'],
  [[300, 300, 399], 600, 'critical', 'poor'],
  [[299, 300], 299, 'medium', 'degraded'],
  [[300, 300], 300, 'high', 'poor'],
  [[100, 100], 100, 'medium', 'degraded'],
  [[99, 100], 99, 'low', 'good'],
] as const)('calls in a row of %j ms cost %i ms of a second and are %s', (lengths, ...expected) => {
  const [savingMs, severity, overall] = expected;
  let atMs = 0;
  const calls = lengths.map((ms, at): Drawn => {
    atMs += ms;
    return { id: `c${at}`, in: 'root', kind: 'client', from: atMs - ms, to: atMs };
  });
  const answer = answerTo([root, ...calls]);
  const found = answer.bottlenecks.find(({ reason }) => reason === 'serial-calls');
  expect(found).toMatchObject({ severity, savingMs });
  expect(answer.overallPerformance).toBe(overall);
});

const queued: Drawn[] = [
  { id: 'POST', from: 0, to: 20, kind: 'server' },
  { id: 'publish', in: 'POST', from: 5, to: 10, kind: 'producer' },
  { id: 'consume', in: 'publish', from: 1_010, to: 1_110, kind: 'consumer' },
];

test('a wait in a queue that most of a trace is, is critical', () => {
  const answer = answerTo(queued);
  expect(answer.overallPerformance).toBe('poor');
  expect(answer.bottlenecks[0]).toMatchObject({
    spanId: idOf('consume'),
    reason: 'queue-wait',
    severity: 'critical',
    duration: 1_100,
    expectedDuration: 100,
    savingMs: 1_000,
    percentOfTrace: 99.1,
    recommendations: [expect.stringMatching(/^A message lay 1 s in publish/)],
  });
});

const report: Drawn[] = [
  root,
  { id: 'report', in: 'root', kind: 'client', from: 0, to: 700, ...database },
];

test.each([
  ['slow by its history', { report: 200 }, 'slow', 500],
  ['of which nothing is known', {}, 'slow-database', 650],
])(
  'a statement %s saves the same as shape and as bottleneck',
  (_title, known, reason, savingMs) => {
    const answer = answerTo(report, known);
    const mine = answer.bottlenecks.filter(({ spanId }) => spanId === idOf('report'));
    expect(mine).toMatchObject([{ reason, savingMs }]);
    expect(answer.shapes.find(({ shape }) => shape === 'slow-database')).toMatchObject({
      savingMs,
    });
  },
);

test('a call that failed stays a failure, whatever shape it has', () => {
  const answer = answerTo([
    root,
    { id: 'try', name: 'pay', in: 'root', kind: 'client', from: 0, to: 600, isError: true },
    { id: 'again', name: 'pay', in: 'root', kind: 'client', from: 600, to: 700 },
  ]);
  const reasons = new Map(answer.bottlenecks.map(({ spanId, reason }) => [spanId, reason]));
  expect(reasons.get(idOf('try'))).toBe('error');
  expect(reasons.get(idOf('again'))).toBe('retry');
});

test('every answer about a trace speaks of the same duration, whatever its clocks and queues', () => {
  const blank = draw({ id: 'blank', from: 0, to: 0 });
  const skewed = (seed: number) => askewTrace(seed).map((head) => ({ ...blank, ...head }));
  const seeds = Array.from({ length: 60 }, (_, at) => at + 1);
  for (const spans of [queued.map(draw), ...seeds.map(randomTrace), ...seeds.map(skewed)]) {
    const trace = storedTrace(spans);
    const detail = detailView(trace, {}) as TraceDetail;
    const { duration } = detail;
    expect(detail.metrics.totalDuration).toBe(duration);
    const changes = [{ service: 'shop', factor: 1, extent: 'whole' as const }];
    expect(whatIfView(trace, { changes })).toMatchObject({
      totalDuration: duration,
      projectedDuration: duration,
    });
    expect(compareView(trace, trace)).toMatchObject({ base: { duration }, other: { duration } });
    const path = criticalPathView(trace, {}) as CriticalPathAnswer;
    expect(path.totalDuration).toBe(duration);
    expect(path.criticalPathDuration + (path.uninstrumented ?? 0)).toBe(duration);
    const answer = bottlenecksView(trace, { baselines: new Map() }) as BottlenecksAnswer;
    expect(answer.totalDuration).toBe(duration);
    for (const { savingMs } of answer.bottlenecks) expect(savingMs).toBeLessThanOrEqual(duration);
    expect(Value.Check(bottlenecks, answer)).toBe(true);
  }
});
