import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  criticalPathOf,
  lastingPath,
  type CriticalPath,
  type PathSection,
} from './critical-path.ts';
import { spanKinds, type SpanHead } from './span.ts';
import { intervalOf } from './summary.ts';
import { headOf, randomTrace, shuffled } from './testing.ts';
import { buildTree } from './tree.ts';

interface CrispSpan {
  spanID: string;
  operationName: string;
  startTime: number;
  duration: number;
  processID: string;
  references: { refType: string; spanID: string }[];
}

type Exclusive = Record<string, number>;

interface CrispCase {
  data: { spans: CrispSpan[]; processes: Record<string, { serviceName: string }> }[];
  testing: Exclusive[] | { opTimeExclusive: Exclusive };
}

/** A case of CRISP (uber-research/CRISP, test_cases) with the exclusive times that it expects. */
function readCrisp(number: number): { heads: SpanHead[]; expected: Exclusive } {
  const url = new URL(`fixtures/crisp/${number}.json`, import.meta.url);
  const { data, testing } = JSON.parse(readFileSync(url, 'utf8')) as CrispCase;
  const heads = data.flatMap(({ spans, processes }) =>
    spans.map((span) =>
      headOf(span.spanID, [span.startTime, span.startTime + span.duration], {
        parentSpanId: span.references.find(({ refType }) => refType === 'CHILD_OF')?.spanID,
        name: `[${processes[span.processID]?.serviceName}] ${span.operationName}`,
      }),
    ),
  );
  const expected = Array.isArray(testing) ? testing[0] : testing.opTimeExclusive;
  return { heads, expected: expected ?? {} };
}

/** CRISP takes an overlap that it tolerates twice; here it is the later sibling's alone. */
const cutOverlap: Exclusive = { '[S1] O1': 10, '[S2] O2': 195, '[S3] O3': 95, '[S4] O4': 300 };
const ours: ReadonlyMap<number, Exclusive> = new Map([
  [19, cutOverlap],
  [21, cutOverlap],
]);

test.each([1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25])(
  'case %i of CRISP has the exclusive times that it expects, overlaps counted once',
  (number) => {
    const { heads, expected } = readCrisp(number);
    const path = criticalPathOf(buildTree(heads));
    // CRISP knows no time after the root.
    const ofRoot = { ...path, sections: path.sections.filter(isOfRoot) };
    expect(timesOf(ofRoot)).toEqual(withoutZeros(ours.get(number) ?? expected));
  },
);

const { client, server, producer, consumer } = spanKinds;

const shapes: [title: string, heads: SpanHead[], sections: string[]][] = [
  ['a single span', [headOf('A', [1, 9])], ['A 1-9']],
  ['a single span without duration', [headOf('A', [5, 5])], ['A 5-5']],
  [
    // Jaeger UI, critical-path/test1.
    'two children in sequence',
    [headOf('C', [1, 101]), below('C', 'D', [20, 40]), below('C', 'E', [50, 60])],
    ['C 1-20', 'D 20-40', 'C 40-50', 'E 50-60', 'C 60-101'],
  ],
  [
    // Jaeger UI, critical-path/test3.
    'a child that begins after its parent ended',
    [headOf('A', [100, 140]), below('A', 'B', [500, 600])],
    ['A 100-140', '? 140-500', 'B 500-600'],
  ],
  [
    // Jaeger UI, critical-path/test5.
    'a consumer below its producer',
    [
      headOf('A', [1, 31], { kind: producer }),
      below('A', 'B', [10, 20], { kind: consumer }),
      below('B', 'C', [12, 14]),
    ],
    ['A 1-31'],
  ],
  [
    // Jaeger UI, critical-path/test7.
    'descendants that outlast their parents',
    [headOf('A', [1, 30]), below('A', 'B', [15, 35]), below('B', 'C', [20, 40])],
    ['A 1-15', 'B 15-20', 'C 20-30', 'C 30-40'],
  ],
  [
    // jaegertracing/jaeger#9148.
    'siblings of which one begins the moment the other ends',
    [headOf('A', [0, 100]), below('A', 'B', [10, 50]), below('A', 'C', [50, 90])],
    ['A 0-10', 'B 10-50', 'C 50-90', 'A 90-100'],
  ],
  [
    'a child that begins with the epoch',
    [headOf('A', [0, 10]), below('A', 'B', [0, 5]), below('A', 'C', [5, 10])],
    ['B 0-5', 'C 5-10'],
  ],
  [
    'children without duration, which take no time',
    [headOf('A', [0, 10]), below('A', 'B', [5, 5]), below('A', 'C', [10, 10])],
    ['A 0-10'],
  ],
  [
    'siblings that ran at once, of which the last to end decides',
    [headOf('A', [0, 100]), below('A', 'B', [0, 80]), below('A', 'C', [10, 90])],
    ['A 0-10', 'C 10-90', 'A 90-100'],
  ],
  [
    'siblings whose clocks disagree by up to 1 % of their parent',
    [headOf('A', [0, 1000]), below('A', 'B', [100, 510]), below('A', 'C', [500, 900])],
    ['A 0-100', 'B 100-500', 'C 500-900', 'A 900-1000'],
  ],
  [
    'siblings that overlap by more than 1 % of their parent',
    [headOf('A', [0, 1000]), below('A', 'B', [100, 511]), below('A', 'C', [500, 900])],
    ['A 0-500', 'C 500-900', 'A 900-1000'],
  ],
  [
    'a child cut short by its sibling, with what ran below it',
    [
      headOf('A', [0, 1000]),
      below('A', 'B', [100, 505]),
      below('B', 'D', [200, 504]),
      below('A', 'C', [500, 900]),
    ],
    ['A 0-100', 'B 100-200', 'D 200-500', 'C 500-900', 'A 900-1000'],
  ],
  [
    'two roots with a gap between them',
    [headOf('A', [0, 10]), below('A', 'B', [4, 10]), headOf('C', [20, 30])],
    ['A 0-4', 'B 4-10', '? 10-20', 'C 20-30'],
  ],
  [
    'roots that overlap, which leave no gap',
    [headOf('A', [0, 60]), below('A', 'B', [10, 55]), headOf('C', [50, 100])],
    ['A 0-10', 'B 10-50', 'C 50-100'],
  ],
  [
    'an orphan within a root, which the root covers',
    [headOf('A', [0, 60]), headOf('B', [10, 20], { parentSpanId: 'missing' })],
    ['A 0-60'],
  ],
  ['roots that all lack a duration', [headOf('A', [7, 7]), headOf('B', [7, 7])], ['A 7-7']],
  [
    'a child that nobody waited for',
    [headOf('A', [0, 100]), below('A', 'B', [50, 1050])],
    ['A 0-50', 'B 50-100', 'B 100-1050'],
  ],
  [
    'a root without duration whose work comes after it',
    [headOf('A', [0, 0]), below('A', 'B', [0, 1000]), below('B', 'C', [200, 700])],
    ['B 0-200', 'C 200-700', 'B 700-1000'],
  ],
  [
    'a queue, the wait in which is no span’s',
    [
      headOf('A', [0, 20], { kind: server }),
      below('A', 'B', [5, 10], { kind: producer }),
      below('B', 'C', [1010, 1510], { kind: consumer }),
      below('C', 'D', [1050, 1450], { kind: client }),
    ],
    ['A 0-5', 'B 5-10', 'A 10-20', '? 20-1010', 'C 1010-1050', 'D 1050-1450', 'C 1450-1510'],
  ],
  [
    'what ran at once after the root, of which the last to end decides',
    [
      headOf('A', [0, 10]),
      below('A', 'B', [5, 60]),
      below('A', 'C', [40, 90]),
      below('A', 'D', [50, 80]),
    ],
    ['A 0-5', 'B 5-10', 'B 10-40', 'C 40-90'],
  ],
  [
    'work between two roots, by the clock of a span that began before both',
    [headOf('A', [10, 20]), below('A', 'B', [5, 33]), headOf('C', [40, 50])],
    ['B 5-10', 'B 10-20', 'B 20-33', '? 33-40', 'C 40-50'],
  ],
  [
    'a client and its server',
    [headOf('A', [0, 10], { kind: client }), below('A', 'B', [3, 8], { kind: server })],
    ['A 0-3', 'B 3-8', 'A 8-10'],
  ],
];

test.each(shapes)('the path of %s', (_title, heads, sections) => {
  for (let seed = 0; seed < 4; seed += 1)
    expect(linesOf(criticalPathOf(buildTree(shuffled(heads, seed))))).toEqual(sections);
});

test('a trace without spans has no path', () => {
  expect(() => criticalPathOf(buildTree([]))).toThrow(RangeError);
});

test('the sections of any trace fill its interval without gap or overlap', () => {
  for (let seed = 0; seed < 300; seed += 1) {
    const heads = randomTrace(seed);
    const tree = buildTree(heads);
    const path = criticalPathOf(tree);
    expect(path).toMatchObject(intervalOf(tree));
    let atUs = path.startUs;
    for (const { node, fromUs, toUs } of path.sections) {
      expect(fromUs).toBe(atUs);
      expect(toUs > fromUs || path.endUs === path.startUs).toBe(true);
      if (node === undefined)
        expect(
          heads.some(({ startUs, endUs }) => endUs > startUs && startUs < toUs && endUs > fromUs),
        ).toBe(false);
      else expect([fromUs >= node.span.startUs, toUs <= node.span.endUs]).toEqual([true, true]);
      atUs = toUs;
    }
    expect(atUs).toBe(path.endUs);
    expect(linesOf(criticalPathOf(buildTree(shuffled(heads, seed))))).toEqual(linesOf(path));
  }
});

test.each([
  [12, ['A 0-5', 'B 5-10', '? 10-12']],
  [7, ['A 0-5', 'B 5-7']],
  [5, ['A 0-5']],
  [0, ['A 0-0']],
])('a path of 10 that must last %i is cut or idles at its end', (lastsUs, sections) => {
  const path = criticalPathOf(buildTree([headOf('A', [0, 10]), below('A', 'B', [5, 10])]));
  const lasting = lastingPath(path, lastsUs);
  expect(linesOf(lasting)).toEqual(sections);
  expect(lasting.endUs).toBe(lastsUs);
});

test.each(['outlasting', 'beginning before'])(
  'the path of 20,000 spans, each %s the one above it, is not found in quadratic time',
  { timeout: 20_000 },
  (shape) => {
    const count = 20_000;
    const heads = [headOf('span-0', [count, 2 * count])];
    for (let at = 1; at < count; at += 1)
      heads.push(
        below(
          `span-${at - 1}`,
          `span-${at}`,
          shape === 'beginning before'
            ? [count - at, 2 * count + at]
            : [count + at, 2 * count + at],
        ),
      );
    const { sections, startUs, endUs } = criticalPathOf(buildTree(heads));
    let sumUs = 0;
    for (const { fromUs, toUs } of sections) sumUs += toUs - fromUs;
    expect(sumUs).toBe(endUs - startUs);
  },
);

test.each(['deep', 'wide'])(
  'the path of 100,000 spans of a %s trace is found without a stack and not in quadratic time',
  { timeout: 20_000 },
  (shape) => {
    const count = 100_000;
    const heads = [headOf('span-0', [0, 2 * count])];
    for (let at = 1; at < count; at += 1)
      heads.push(
        shape === 'deep'
          ? below(`span-${at - 1}`, `span-${at}`, [at, 2 * count - at])
          : below('span-0', `span-${at}`, [2 * at, 2 * at + 2]),
      );
    const { sections } = criticalPathOf(buildTree(heads));
    expect(sections).toHaveLength(shape === 'deep' ? 2 * count - 1 : count);
  },
);

function below(
  parentSpanId: string,
  spanId: string,
  ...[times, facts]: [times: [number, number], facts?: Partial<SpanHead>]
): SpanHead {
  return headOf(spanId, times, { parentSpanId, ...facts });
}

function linesOf(path: CriticalPath): string[] {
  return path.sections.map(
    ({ node, fromUs, toUs }) => `${node?.span.spanId ?? '?'} ${fromUs}-${toUs}`,
  );
}

function isOfRoot({ node, loose }: PathSection): boolean {
  return node !== undefined && loose === undefined;
}

/** Time on the path by name. */
function timesOf(path: CriticalPath): Exclusive {
  const times: Exclusive = {};
  for (const { node, fromUs, toUs } of path.sections) {
    const name = node?.span.name ?? '?';
    times[name] = (times[name] ?? 0) + toUs - fromUs;
  }
  return times;
}

function withoutZeros(times: Exclusive): Exclusive {
  return Object.fromEntries(Object.entries(times).filter(([, time]) => time > 0));
}
