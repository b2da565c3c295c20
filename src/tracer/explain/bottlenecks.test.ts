import { expect, test } from 'vitest';
import type { Baseline, BaselineOf } from '../trace/analysis.ts';
import { seededRandom } from '../trace/testing.ts';
import { countBottlenecks, findBottlenecks } from './bottlenecks.ts';
import { draw, examined, randomTrace } from './testing.ts';

const unknown: BaselineOf = () => undefined;

/** A history whose quartiles lie a tenth around the median, in milliseconds. */
function usual(medianMs: number, selfMs = medianMs): Baseline {
  const quartiles = (ms: number) => ({
    count: 100,
    p25Us: ms * 930,
    p50Us: ms * 1_000,
    p75Us: ms * 1_075,
  });
  return { duration: quartiles(medianMs), self: quartiles(selfMs) };
}

function histories(byName: Readonly<Record<string, Baseline>>): BaselineOf {
  return ({ name }) => byName[name];
}

function find(spans: ReturnType<typeof randomTrace>, baselineOf: BaselineOf) {
  const { analysis, onPath } = examined(spans);
  const found = findBottlenecks(analysis, baselineOf, onPath);
  expect(countBottlenecks(analysis, baselineOf)).toBe(found.length);
  return found.map(({ head, ...rest }) => ({ name: head.name, ...rest }));
}

test('a trace of one span has no bottleneck while nothing is known of it', () => {
  expect(find([draw({ id: 'root', from: 0, to: 5_000 })], unknown)).toEqual([]);
});

test('a trace of no length has none', () => {
  const spans = [
    draw({ id: 'root', from: 0, to: 0 }),
    draw({ id: 'a', in: 'root', from: 0, to: 0 }),
  ];
  expect(find(spans, unknown)).toEqual([]);
});

test('a span that fails without taking time is one, and medium where the trace failed by it', () => {
  const spans = [
    draw({ id: 'root', from: 0, to: 100, isError: true }),
    draw({ id: 'check', in: 'root', from: 40, to: 40, isError: true, errorCode: 'VALIDATION' }),
    draw({ id: 'rest', in: 'root', from: 0, to: 20 }),
    draw({ id: 'more', in: 'root', from: 20, to: 100 }),
  ];
  expect(find(spans, histories({ more: usual(80) }))).toEqual([
    expect.objectContaining({ name: 'check', reason: 'error', severity: 'medium', savingUs: 0 }),
  ]);
});

test('where failures began is one, not what failed because of it', () => {
  const spans = [
    draw({ id: 'root', from: 0, to: 100, isError: true }),
    draw({ id: 'call', in: 'root', from: 10, to: 90, isError: true }),
    draw({ id: 'query', in: 'call', from: 20, to: 80, isError: true }),
  ];
  const [first, ...others] = find(spans, histories({ query: usual(60) }));
  // A failed span's time is lost however usual it is.
  expect(first).toMatchObject({ name: 'query', reason: 'error', severity: 'critical' });
  expect(first).toMatchObject({ savingUs: 60_000, basis: 'history', expectedUs: 60_000 });
  expect(others).toEqual([]);
});

test('a parent is no bottleneck because its child is slow', () => {
  const spans = [
    draw({ id: 'root', from: 0, to: 1_000 }),
    draw({ id: 'query', in: 'root', from: 10, to: 990 }),
  ];
  const known = histories({ root: usual(100, 20), query: usual(80) });
  expect(find(spans, known)).toEqual([
    expect.objectContaining({ name: 'query', severity: 'critical', savingUs: 900_000 }),
  ]);
});

test('a span that takes what it always takes is none, even as most of the trace', () => {
  const spans = [
    draw({ id: 'root', from: 0, to: 1_000 }),
    draw({ id: 'model', in: 'root', from: 0, to: 990 }),
  ];
  expect(find(spans, histories({ model: usual(1_000) }))).toEqual([]);
});

test('without a history most of a trace is named, with itself as the only expectation', () => {
  const spans = [
    draw({ id: 'root', from: 0, to: 1_000 }),
    draw({ id: 'model', in: 'root', from: 0, to: 600 }),
  ];
  expect(find(spans, unknown)).toEqual([
    {
      name: 'model',
      reason: 'share',
      basis: 'trace',
      expectedUs: 600_000,
      severity: 'low',
      onPathUs: 600_000,
      savingUs: 0,
    },
  ]);
});

test('a history outweighs what the rest of the trace shows', () => {
  const spans = [
    draw({ id: 'root', from: 0, to: 1_000 }),
    ...[0, 100, 200, 300, 400].map((from) =>
      draw({ id: `q${from}`, name: 'query', in: 'root', from, to: from + 20 }),
    ),
    draw({ id: 'q500', name: 'query', in: 'root', from: 500, to: 900 }),
  ];
  const slow = { name: 'query', basis: 'trace', severity: 'medium', expectedUs: 20_000 };
  expect(find(spans, histories({ root: usual(500) }))).toEqual([expect.objectContaining(slow)]);
  expect(find(spans, histories({ root: usual(500), query: usual(390) }))).toEqual([]);
});

test('a slow span that the trace did not wait for costs nothing and is low', () => {
  const spans = [
    draw({ id: 'root', from: 0, to: 1_000 }),
    draw({ id: 'long', in: 'root', from: 0, to: 1_000 }),
    draw({ id: 'aside', in: 'root', from: 0, to: 900 }),
  ];
  const known = histories({ long: usual(1_000), aside: usual(10) });
  expect(find(spans, known)).toEqual([
    expect.objectContaining({ name: 'aside', severity: 'low', savingUs: 0, onPathUs: 0 }),
  ]);
});

test.each([
  // took, usually takes, of a trace of, gives
  [120, 100, 1_000, undefined],
  [130, 100, 1_000, 'low'],
  [150, 100, 1_001, 'low'],
  [150, 100, 1_000, 'medium'],
  [250, 100, 1_001, 'medium'],
  [250, 100, 1_000, 'high'],
  [400, 100, 1_001, 'high'],
  [400, 100, 1_000, 'critical'],
] as const)('%i ms for what takes %i ms, of %i ms: %s', (took, expected, total, severity) => {
  const spans = [
    draw({ id: 'root', from: 0, to: total }),
    draw({ id: 'query', in: 'root', from: 0, to: took }),
  ];
  const known = histories({ root: usual(total), query: usual(expected) });
  const [found] = find(spans, known);
  expect(found?.severity).toBe(severity);
});

test('the one whose cure saves most comes first', () => {
  const spans = [
    draw({ id: 'root', from: 0, to: 1_000 }),
    draw({ id: 'little', in: 'root', from: 0, to: 200 }),
    draw({ id: 'much', in: 'root', from: 200, to: 900 }),
  ];
  const known = histories({ root: usual(500), little: usual(2), much: usual(400) });
  expect(find(spans, known).map(({ name }) => name)).toEqual(['much', 'little']);
});

test('as many are counted as are found, in any trace, whatever is known', () => {
  for (let seed = 1; seed <= 200; seed += 1) {
    const random = seededRandom(seed);
    const known = new Map<string, Baseline | undefined>();
    const baselineOf: BaselineOf = ({ name }) => {
      if (!known.has(name)) known.set(name, random() < 0.5 ? usual(random() * 100) : undefined);
      return known.get(name);
    };
    const found = find(randomTrace(seed), baselineOf);
    for (const { savingUs, onPathUs } of found) expect(savingUs).toBeLessThanOrEqual(onPathUs);
  }
});

test('the order in which the spans came decides nothing', () => {
  const spans = randomTrace(11);
  expect(find(spans.toReversed(), unknown)).toEqual(find(spans, unknown));
});
