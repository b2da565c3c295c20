import { expect, test } from 'vitest';
import { Value } from 'typebox/value';
import { traceComparison } from '../schemas/explain-answers.ts';
import type { Span } from '../trace/span.ts';
import { study } from '../trace/study.ts';
import { compareStructures, structureOf } from './compare.ts';
import { compareView } from './compare-view.ts';
import { wholeMilliseconds } from './rounding.ts';
import { draw, randomTrace, storedTrace } from './testing.ts';

function compare(base: readonly Span[], other: readonly Span[]) {
  const [before, after] = [study(base), study(other)];
  return compareStructures(
    structureOf(before.tree, before.path),
    structureOf(after.tree, after.path),
  );
}

const base = [
  draw({ id: 'root', from: 0, to: 100 }),
  draw({ id: 'read', in: 'root', from: 10, to: 40 }),
  draw({ id: 'write', in: 'root', from: 40, to: 90 }),
];

test('a trace beside itself has no difference and nothing to explain', () => {
  for (const seed of [1, 2, 3, 4]) {
    const spans = randomTrace(seed);
    const { differenceUs, contributions, idleUs } = compare(spans, spans.toReversed());
    expect({ differenceUs, contributions, idleUs }).toEqual({
      differenceUs: 0,
      contributions: [],
      idleUs: 0,
    });
  }
});

test('traces with nothing in common explain each other: one is gone, the other has come', () => {
  const { places, contributions, differenceUs } = compare(
    [draw({ id: 'old', from: 0, to: 30 })],
    [draw({ id: 'new', from: 0, to: 50 })],
  );
  expect(places.map(({ name, base: was, other }) => [name, !!was, !!other])).toEqual([
    ['old', true, false],
    ['new', false, true],
  ]);
  expect(contributions.map(({ name, us }) => [name, us])).toEqual([
    ['new', 50_000],
    ['old', -30_000],
  ]);
  expect(differenceUs).toBe(20_000);
});

test('in any two traces the operations and the idle time explain the difference exactly', () => {
  for (let seed = 1; seed <= 150; seed += 1) {
    const shuffle = (span: Span, at: number) => ({ ...span, name: `op${at % 4}` });
    const before = randomTrace(seed).map(shuffle);
    const after = randomTrace(seed + 1_000).map(shuffle);
    const { differenceUs, contributions, idleUs, places } = compare(before, after);
    const sum = contributions.reduce((us, change) => us + change.us, idleUs);
    expect(sum, `seed ${seed}`).toBe(differenceUs);
    const count = places.reduce((spans, place) => spans + (place.other?.count ?? 0), 0);
    expect(count, `seed ${seed}`).toBe(after.length);

    const answer = compareView(storedTrace(before), storedTrace(after));
    const { operations, rest, uninstrumented } = answer.explanation;
    const ms = operations.reduce((all, { change }) => all + change, rest + uninstrumented);
    expect(ms, `seed ${seed}`).toBe(answer.difference);
    expect(Value.Check(traceComparison, answer), `seed ${seed}`).toBe(true);
  }
});

test('a slower child is what makes a trace longer, not the parents that wait for it', () => {
  const other = [
    draw({ id: 'root', from: 0, to: 160 }),
    draw({ id: 'read', in: 'root', from: 10, to: 100 }),
    draw({ id: 'write', in: 'root', from: 100, to: 150 }),
  ];
  const answer = compareView(storedTrace(base), storedTrace(other));
  expect(answer.difference).toBe(60);
  expect(answer.explanation).toEqual({
    operations: [
      {
        service: 'shop',
        name: 'read',
        baseCount: 1,
        otherCount: 1,
        change: 60,
        percentOfDifference: 100,
      },
    ],
    rest: 0,
    uninstrumented: 0,
  });
  const changes = Object.fromEntries(answer.spans.map(({ name, change }) => [name, change]));
  expect(changes).toEqual({ read: 'changed', root: 'changed', write: 'same' });
});

test('spans of one name below one place are counted together', () => {
  const repeated = [1, 2, 3].map((at) =>
    draw({ id: `w${at}`, name: 'write', in: 'root', from: 20 + at * 20, to: 40 + at * 20 }),
  );
  const answer = compareView(storedTrace(base), storedTrace([...base.slice(0, 2), ...repeated]));
  expect(answer.spans.find(({ name }) => name === 'write')).toMatchObject({
    path: ['root'],
    isPathCut: false,
    change: 'changed',
    base: { count: 1, duration: 50, onCriticalPath: 50 },
    other: { count: 3, duration: 60, onCriticalPath: 60 },
    durationChange: 10,
    criticalPathChange: 10,
  });
});

test('the names above a place are cut to the nearest ten', () => {
  const deep = Array.from({ length: 14 }, (_, at) =>
    draw({ id: `d${at}`, ...(at > 0 ? { in: `d${at - 1}` } : {}), from: at, to: 100 - at }),
  );
  const answer = compareView(storedTrace(deep), storedTrace(deep));
  expect(answer.spans.find(({ name }) => name === 'd13')).toMatchObject({
    path: ['d3', 'd4', 'd5', 'd6', 'd7', 'd8', 'd9', 'd10', 'd11', 'd12'],
    isPathCut: true,
  });
  expect(answer.spans.find(({ name }) => name === 'd2')).toMatchObject({ isPathCut: false });
});

test.each([
  [[], []],
  [
    [400, 400, 400],
    [1, 0, 0],
  ],
  [
    [-400, -400, -400],
    [0, 0, -1],
  ],
  [
    [1_600, -600],
    [2, -1],
  ],
  [
    [999, 1_001, 12_500],
    [1, 1, 13],
  ],
])('%j microseconds are whole milliseconds %j', (us, ms) => {
  expect(wholeMilliseconds(us)).toEqual(ms);
});
