import { expect, test } from 'vitest';
import { study } from '../trace/study.ts';
import { inclusivePathTimes, type PathTimes } from './path-times.ts';
import { draw, examined, idOf, randomTrace } from './testing.ts';
import { projectChanges } from './what-if.ts';
import type { Change } from './what-if-steps.ts';

const seeds = Array.from({ length: 120 }, (_, at) => at + 1);

function withTime(times: PathTimes): Record<string, number> {
  return Object.fromEntries([...times].filter(([, us]) => us > 0));
}

function project(spans: ReturnType<typeof randomTrace>, ...changes: Change[]) {
  const { tree, path } = study(spans);
  return projectChanges(tree, path, changes);
}

test('a change that names no span, or names nothing, changes nothing', () => {
  const spans = randomTrace(7);
  const { totalUs, projectedUs, matches } = project(
    spans,
    { spanId: 'f'.repeat(16), factor: 10, extent: 'whole' },
    { factor: 10, extent: 'whole' },
  );
  expect(projectedUs).toBe(totalUs);
  expect(matches).toEqual([0, 0]);
});

test('a trace of no length stays one, however fast it gets', () => {
  const spans = [
    draw({ id: 'root', from: 0, to: 0 }),
    draw({ id: 'a', in: 'root', from: 0, to: 0 }),
  ];
  expect(project(spans, { service: 'shop', factor: 5, extent: 'whole' })).toMatchObject({
    totalUs: 0,
    projectedUs: 0,
    matches: [2],
  });
});

test('factor 1 changes nothing, in any trace: neither its length nor its path', () => {
  for (const seed of seeds) {
    const spans = randomTrace(seed);
    const { path, onPath } = examined(spans);
    const same = project(spans, { service: 'shop', factor: 1, extent: 'whole' });
    expect(same.projectedUs, `seed ${seed}`).toBe(path.endUs - path.startUs);
    expect(withTime(same.onPath), `seed ${seed}`).toEqual(withTime(onPath));
  }
});

test('a span that the trace did not wait for saves nothing', () => {
  let tried = 0;
  for (const seed of seeds) {
    const spans = randomTrace(seed);
    const { analysis, onPath, tree, path } = examined(spans);
    const within = inclusivePathTimes(analysis.spans, onPath);
    for (const { spanId } of spans) {
      if ((within.get(spanId) ?? 0) > 0) continue;
      tried += 1;
      const { totalUs, projectedUs } = projectChanges(tree, path, [
        { spanId, factor: 1_000, extent: 'whole' },
      ]);
      expect(projectedUs, `seed ${seed}, span ${spanId}`).toBe(totalUs);
    }
  }
  expect(tried).toBeGreaterThan(300);
});

test('a faster span saves no more than its part of the path, and never makes a trace longer', () => {
  for (const seed of seeds) {
    const spans = randomTrace(seed);
    const { analysis, onPath, tree, path } = examined(spans);
    const within = inclusivePathTimes(analysis.spans, onPath);
    for (const { spanId } of spans) {
      for (const [extent, times] of [
        ['whole', within],
        ['own', onPath],
      ] as const) {
        const { totalUs, projectedUs } = projectChanges(tree, path, [
          { spanId, factor: 4, extent },
        ]);
        const most = ((times.get(spanId) ?? 0) * 3) / 4;
        expect(projectedUs, `seed ${seed}, ${extent}`).toBeLessThanOrEqual(totalUs);
        expect(totalUs - projectedUs, `seed ${seed}, ${extent}`).toBeLessThanOrEqual(most + 1);
      }
    }
  }
});

test('what is faster never makes a trace longer, also where a span begins before its parent', () => {
  const spans = [
    draw({ id: 'early', in: 'other', from: 0, to: 1 }),
    draw({ id: 'outlived', from: 10, to: 119 }),
    draw({ id: 'first', from: 13, to: 141 }),
    draw({ id: 'other', from: 34, to: 177 }),
    draw({ id: 'work', in: 'first', from: 97, to: 127 }),
    draw({ id: 'late', in: 'outlived', from: 198, to: 244 }),
  ];
  expect(project(spans, { spanId: idOf('work'), factor: 2, extent: 'whole' })).toMatchObject({
    totalUs: 244_000,
    projectedUs: 244_000,
  });
});

test('everything twice as fast takes half as long', () => {
  for (const seed of seeds) {
    const spans = randomTrace(seed).map((span) => ({ ...span, service: 'shop' }));
    const { tree, path } = examined(spans);
    // A wait for what has no root is nobody's work, and as long as it was.
    if (tree.roots.length > 1 || path.sections.some(({ loose }) => loose)) continue;
    const { totalUs, projectedUs, onPath } = project(spans, {
      service: 'shop',
      factor: 2,
      extent: 'whole',
    });
    expect(projectedUs, `seed ${seed}`).toBe(Math.round(totalUs / 2));
    const sum = [...onPath.values()].reduce((us, own) => us + own, 0);
    expect(sum, `seed ${seed}`).toBeCloseTo(totalUs / 2, 3);
  }
});

const order = [
  draw({ id: 'root', from: 0, to: 100 }),
  draw({ id: 'read', in: 'root', from: 10, to: 40 }),
  draw({ id: 'left', in: 'root', from: 40, to: 90 }),
  draw({ id: 'right', in: 'root', from: 40, to: 70 }),
  draw({ id: 'deep', in: 'left', from: 50, to: 90 }),
];

test.each([
  ['a span in sequence gives what it saves', 'read', 3, 'whole', 80],
  ['a span beside a longer one gives nothing', 'right', 3, 'whole', 100],
  ['the longer of two gives no more than until the other ends', 'left', 10, 'whole', 80],
  ['own work leaves what lies below', 'left', 10, 'own', 91],
  ['own work between children is a span’s too', 'root', 2, 'own', 90],
  ['a whole trace is divided', 'root', 4, 'whole', 25],
  ['a slower span makes the trace longer', 'right', 0.5, 'whole', 110],
] as const)('%s', (_title, id, factor, extent, expectedMs) => {
  expect(project(order, { spanId: idOf(id), factor, extent }).projectedUs).toBe(expectedMs * 1_000);
});

test('one change takes hold of nested spans of an operation once, two changes both do', () => {
  const nested = order.map((span) => ({ ...span, name: 'work' }));
  const work: Change = { operation: 'work', factor: 2, extent: 'whole' };
  expect(project(nested, work)).toMatchObject({ projectedUs: 50_000, matches: [5] });
  expect(project(nested, work, { ...work, service: 'shop' }).projectedUs).toBe(25_000);
});

test('a consumer’s work is nobody’s wait, and is projected away', () => {
  const queued = [
    draw({ id: 'root', from: 0, to: 100 }),
    draw({ id: 'send', in: 'root', from: 0, to: 60, kind: 'producer' }),
    draw({ id: 'take', in: 'send', from: 20, to: 60, kind: 'consumer' }),
  ];
  const change = { spanId: idOf('take'), factor: 100, extent: 'whole' } as const;
  expect(project(queued, change)).toMatchObject({ projectedUs: 100_000, matches: [1] });
});

const background = [
  draw({ id: 'root', from: 0, to: 100 }),
  draw({ id: 'bg', in: 'root', from: 50, to: 1_050 }),
  draw({ id: 'work', in: 'bg', from: 200, to: 1_000 }),
];
const queue = [
  draw({ id: 'POST', from: 0, to: 20, kind: 'server' }),
  draw({ id: 'publish', in: 'POST', from: 10, to: 20, kind: 'producer' }),
  draw({ id: 'consume', in: 'publish', from: 1_020, to: 1_510, kind: 'consumer' }),
  draw({ id: 'db', in: 'consume', from: 1_050, to: 1_450, kind: 'client' }),
];

test.each<
  [string, ReturnType<typeof randomTrace>, string, number, Change['extent'], number, number]
>([
  ['work that outlasts its root', background, 'bg', 2, 'whole', 1_050, 550],
  ['what is below it', background, 'work', 2, 'whole', 1_050, 650],
  ['its own work alone', background, 'bg', 2, 'own', 1_050, 950],
  ['a root with all that it began', background, 'root', 2, 'whole', 1_050, 525],
  [
    'work beside it, which then ends last',
    [...background, draw({ id: 'other', in: 'root', from: 60, to: 800 })],
    'bg',
    10,
    'whole',
    1_050,
    800,
  ],
  [
    'work beside it, which ended earlier and saves nothing',
    [...background, draw({ id: 'other', in: 'root', from: 60, to: 800 })],
    'other',
    10,
    'whole',
    1_050,
    1_050,
  ],
  ['what a queue delivered', queue, 'consume', 2, 'whole', 1_510, 1_265],
  ['a call of it', queue, 'db', 4, 'whole', 1_510, 1_210],
  ['a request before a queue, not the wait in it', queue, 'POST', 2, 'own', 1_510, 1_505],
])('%s is projected to the end of the trace', (_title, spans, id, factor, ...rest) => {
  const [extent, totalMs, projectedMs] = rest;
  const answer = project(spans, { spanId: idOf(id), factor, extent });
  expect(answer.totalUs).toBe(totalMs * 1_000);
  expect(answer.projectedUs).toBe(projectedMs * 1_000);
});

const root = draw({ id: 'root', from: 0, to: 1_000 });
const bg = draw({ id: 'bg', in: 'root', from: 50, to: 3_000 });
const db = draw({ id: 'db', in: 'root', from: 100, to: 900 });
const beside = [
  root,
  draw({ id: 'b', in: 'root', from: 0, to: 700 }),
  draw({ id: 'd', in: 'root', from: 700, to: 950 }),
  draw({ id: 'async', in: 'root', from: 900, to: 1_400 }),
];
const early = draw({ id: 'bg', in: 'root', from: 50, to: 1_200 });
const produced = [
  root,
  db,
  draw({ id: 'send', in: 'root', from: 100, to: 110, kind: 'producer' }),
  draw({ id: 'take', in: 'send', from: 500, to: 2_000, kind: 'consumer' }),
];
const touching = [
  root,
  draw({ id: 'first', in: 'root', from: 0, to: 505 }),
  draw({ id: 'bg', in: 'first', from: 50, to: 1_100 }),
  draw({ id: 'second', in: 'root', from: 500, to: 1_000 }),
];
const behind = [
  root,
  draw({ id: 'bg', in: 'root', from: 1_000, to: 2_000 }),
  draw({ id: 'then', in: 'root', from: 2_000, to: 2_500 }),
];

test.each<[string, ReturnType<typeof randomTrace>, string, number, number]>([
  ['is faster, down to the end of its root', [root, early, db], 'bg', 4, 1_000],
  ['is faster', [root, bg, db], 'bg', 2, 1_525],
  ['does not wait for what its root waits for', [root, bg, db], 'db', 0.5, 3_000],
  ['and makes nothing faster', [root, bg, db], 'db', 2, 3_000],
  ['came by a queue before what is faster', produced, 'db', 2, 2_000],
  ['began while what is slower ran', beside, 'd', 0.5, 1_400],
  ['began while what is faster ran', beside, 'd', 2, 1_400],
  // 300 of the path is all that the two that are faster can save.
  ['was begun by what is faster', touching, 'first', 2, 800],
  ['went on with more when it was done', behind, 'bg', 2, 2_000],
])('work outlasts its root: it %s', (_title, spans, id, factor, projectedMs) => {
  const change = { spanId: idOf(id), factor, extent: 'whole' } as const;
  expect(project(spans, change).projectedUs).toBe(projectedMs * 1_000);
});

test('20,000 spans, each outlasting the one above it, are projected', () => {
  const chain = Array.from({ length: 20_000 }, (_, at) =>
    draw({ id: `d${at}`, ...(at > 0 ? { in: `d${at - 1}` } : {}), from: at, to: 20_000 + at }),
  );
  expect(project(chain, { spanId: idOf('none'), factor: 2, extent: 'own' })).toMatchObject({
    totalUs: 39_999_000,
    projectedUs: 39_999_000,
  });
});

test('the projected path goes through what is then waited for', () => {
  const { onPath } = project(order, { spanId: idOf('left'), factor: 10, extent: 'whole' });
  expect(withTime(onPath)).toEqual({
    [idOf('root')]: 20_000,
    [idOf('read')]: 30_000,
    [idOf('right')]: 30_000,
  });
});

test('20,000 spans below each other, or beside each other, are projected', () => {
  const deep = Array.from({ length: 20_000 }, (_, at) =>
    draw({ id: `d${at}`, ...(at > 0 ? { in: `d${at - 1}` } : {}), from: at, to: 60_000 - at }),
  );
  const own: Change = { service: 'shop', factor: 2, extent: 'own' };
  expect(project(deep, own).projectedUs).toBe(30_000_000);
  const wide = Array.from({ length: 20_000 }, (_, at) =>
    at === 0
      ? draw({ id: 'd0', from: 0, to: 20_000 })
      : draw({ id: `d${at}`, in: 'd0', from: at, to: at + 1 }),
  );
  expect(project(wide, own).projectedUs).toBe(10_000_000);
});

test.each([0, 60])('a root of no length beside one that begins with it, after %i ms', (from) => {
  const roots = [
    draw({ id: 'first', from: 0, to: 100 }),
    draw({ id: 'point', from, to: from }),
    draw({ id: 'second', from, to: 200 }),
  ];
  const change = { spanId: idOf('second'), factor: 1, extent: 'whole' } as const;
  expect(project(roots, change)).toMatchObject({ totalUs: 200_000, projectedUs: 200_000 });
  const { projectedUs } = project(roots, { ...change, factor: 2 });
  // What of the first the path does not name is cut where the second begins.
  expect(projectedUs).toBe((from + (200 - from) / 2) * 1_000);
});
