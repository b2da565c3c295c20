import { expect, test } from 'vitest';
import type { Finding, Shape } from './finding.ts';
import { recommendShape } from './recommendations.ts';
import { findShapes } from './shapes.ts';
import { draw, examined, idOf, randomTrace, type Drawn } from './testing.ts';

const root = { id: 'root', from: 0, to: 1_000 } as const;

function find(drawn: readonly Drawn[], cold: readonly string[] = []): Finding[] {
  const { analysis, onPath } = examined(drawn.map(draw));
  return findShapes(analysis, onPath, new Set(cold.map(idOf)));
}

/** Calls of the same name one after another, each of this many milliseconds. */
function calls(count: number, ms: number, rest: Partial<Drawn> = {}): Drawn[] {
  return Array.from({ length: count }, (_, at) => ({
    id: `c${at}`,
    name: 'select item',
    in: 'root',
    kind: 'client',
    from: at * (ms + 5),
    to: at * (ms + 5) + ms,
    ...rest,
  }));
}

const database = { callee: { type: 'database', name: 'postgresql' } } as const;
const chat = (outputTokens = 0) =>
  ({ genAi: { operation: 'chat', model: 'large', outputTokens } }) as const;

test.each<[string, readonly Drawn[]]>([
  ['a single span', [root]],
  ['what repeats for less than a hundredth of the trace', [root, ...calls(9, 1)]],
  ['four calls of one operation', [root, ...calls(4, 20)]],
  ['five calls of one operation at once', [root, ...calls(5, 20, { from: 0, to: 100 })]],
  ['the turns of a model', [root, ...calls(6, 100, chat())]],
  [
    'a tool that a model asked for',
    [
      root,
      { id: 'ask', in: 'root', from: 0, to: 400, ...chat() },
      { id: 'tool', in: 'root', from: 400, to: 700, genAi: { tool: 'search' } },
      { id: 'tell', in: 'root', from: 700, to: 1_000, ...chat() },
    ],
  ],
  [
    'calls with a pause between them',
    [
      root,
      { id: 'a', in: 'root', from: 0, to: 400, kind: 'client' },
      { id: 'b', in: 'root', from: 410, to: 900, kind: 'client' },
    ],
  ],
  [
    'a failure that nothing followed',
    [root, { id: 'a', in: 'root', from: 0, to: 400, kind: 'client', isError: true }],
  ],
  [
    'a client that two servers answered',
    [
      root,
      { id: 'a', in: 'root', from: 0, to: 900, kind: 'client' },
      { id: 'x', in: 'a', from: 100, to: 200, kind: 'server', service: 'one' },
      { id: 'y', in: 'a', from: 300, to: 400, kind: 'server', service: 'two' },
    ],
  ],
  [
    'a short statement',
    [root, { id: 'q', in: 'root', from: 0, to: 190, kind: 'client', ...database }],
  ],
  ['a model’s short answer', [root, { id: 'm', in: 'root', from: 0, to: 999, ...chat(499) }]],
])('%s is no shape', (_title, drawn) => {
  expect(find(drawn)).toEqual([]);
});

const shapes: readonly [Shape, readonly Drawn[], Partial<Finding>, RegExp][] = [
  [
    'n-plus-one',
    [root, ...calls(10, 50, database)],
    {
      spanIds: Array.from({ length: 10 }, (_, at) => idOf(`c${at}`)),
      savingUs: 450_000,
      evidence: { operation: 'select item', calls: 10, callUs: 50_000, callee: 'postgresql' },
    },
    /select item is called 10 times one after another, 50 ms each, on postgresql/,
  ],
  [
    'serial-calls',
    [
      root,
      { id: 'stock', in: 'root', from: 0, to: 300, kind: 'client' },
      { id: 'price', in: 'root', from: 300, to: 500, kind: 'client' },
    ],
    {
      savingUs: 200_000,
      evidence: { operations: ['stock', 'price'], calls: 2, longestUs: 300_000 },
    },
    /2 calls \(stock, price\) run one right after another: if they do not need/,
  ],
  [
    'retry',
    [
      root,
      ...[0, 300, 600].map((from): Drawn => {
        const failure = from < 600 ? { isError: true, errorCode: 'ETIMEDOUT' } : {};
        return { id: `t${from}`, name: 'pay', in: 'root', from, to: from + 200, ...failure };
      }),
    ],
    {
      savingUs: 600_000,
      evidence: {
        operation: 'pay',
        failures: 2,
        errorCode: 'ETIMEDOUT',
        waitUs: 200_000,
        hasRecovered: true,
      },
    },
    /pay failed 2 times \(ETIMEDOUT\) and was called again after 200 ms of waiting: find/,
  ],
  [
    'queue-wait',
    [
      root,
      { id: 'send', name: 'mail', in: 'root', from: 0, to: 10, kind: 'producer' },
      { id: 'take', in: 'send', from: 310, to: 1_200, kind: 'consumer' },
    ],
    { savingUs: 200_000, evidence: { queue: 'mail', messages: 1, longestUs: 300_000 } },
    /A message lay 300 ms in mail before it was taken/,
  ],
  [
    'client-server-gap',
    [
      root,
      { id: 'call', in: 'root', from: 0, to: 800, kind: 'client' },
      { id: 'serve', in: 'call', from: 500, to: 700, kind: 'server', service: 'stock' },
    ],
    {
      savingUs: 600_000,
      evidence: { from: 'shop', to: 'stock', calls: 1, clientUs: 800_000, serverUs: 200_000 },
    },
    /shop waited 800 ms for stock, which worked for 200 ms of it \(1 call\)/,
  ],
  [
    'long-output',
    [
      { ...root, to: 10_000 },
      { id: 'answer', in: 'root', from: 0, to: 8_000, ...chat(1_200) },
    ],
    {
      savingUs: 4_000_000,
      evidence: {
        model: 'large',
        outputTokens: 1_200,
        tokensPerSecond: 150,
        durationUs: 8_000_000,
      },
    },
    /large wrote 1200 tokens in 8 s \(150 a second\)/,
  ],
  [
    'slow-database',
    [root, { id: 'report', in: 'root', from: 0, to: 700, kind: 'client', ...database }],
    {
      savingUs: 650_000,
      remainsUs: 50_000,
      evidence: { operation: 'report', database: 'postgresql', calls: 1, longestUs: 700_000 },
    },
    /report on postgresql takes up to 700 ms: look at its plan/,
  ],
  [
    'cold-start',
    [
      root,
      ...[0, 1, 2, 3, 4].map((at): Drawn => {
        const from = at === 0 ? 0 : 500 + at * 50;
        return { id: `f${at}`, name: 'render', in: 'root', from, to: from + (at === 0 ? 500 : 10) };
      }),
    ],
    {
      spanIds: [idOf('f0')],
      savingUs: 490_000,
      evidence: { operation: 'render', firstUs: 500_000, laterUs: 10_000 },
    },
    /render took 500 ms at the first call and 10 ms later/,
  ],
];

test.each(shapes)(
  '%s is recognised, with what it costs and what to do',
  (shape, drawn, ...rest) => {
    const [expected, sentence] = rest;
    const found = find(drawn).find((finding) => finding.shape === shape);
    expect(found).toMatchObject({ shape, ...expected });
    expect(found && recommendShape(found)).toMatch(sentence);
  },
);

test('a span that says that it was a cold start is believed', () => {
  const drawn: Drawn[] = [root, { id: 'f', name: 'render', in: 'root', from: 0, to: 300 }];
  const warm: Drawn = { id: 'w', name: 'render', in: 'root', from: 310, to: 330 };
  expect(find([...drawn, warm], ['f'])).toEqual([
    expect.objectContaining({ shape: 'cold-start', savingUs: 280_000, remainsUs: 20_000 }),
  ]);
  // What it takes when warm, nobody knows.
  expect(find(drawn, ['f'])).toEqual([
    expect.objectContaining({ shape: 'cold-start', savingUs: 0, remainsUs: 300_000 }),
  ]);
});

test('one operation repeated below many parents is one finding', () => {
  const drawn: Drawn[] = [root];
  for (let at = 0; at < 4; at += 1) {
    drawn.push({ id: `page${at}`, name: 'page', in: 'root', from: at * 250, to: at * 250 + 240 });
    for (let call = 0; call < 6; call += 1) {
      const from = at * 250 + call * 40;
      drawn.push({ id: `p${at}c${call}`, name: 'load', in: `page${at}`, from, to: from + 30 });
    }
  }
  const found = find(drawn).filter(({ shape }) => shape === 'n-plus-one');
  expect(found).toHaveLength(1);
  expect(found[0]).toMatchObject({ savingUs: 4 * 5 * 30_000, evidence: { calls: 24 } });
});

test('what the trace did not wait for saves nothing', () => {
  const found = find([
    root,
    { id: 'main', in: 'root', from: 0, to: 1_000 },
    ...calls(8, 50, database),
  ]);
  expect(found.map(({ shape, savingUs }) => [shape, savingUs])).toEqual([['n-plus-one', 0]]);
});

test('a wait in a queue saves nothing while other work goes on that decides', () => {
  const found = find([
    { id: 'root', from: 0, to: 10 },
    { id: 'send', in: 'root', from: 0, to: 10, kind: 'producer' },
    { id: 'bg', in: 'root', from: 0, to: 1_000 },
    { id: 'take', in: 'send', from: 410, to: 900, kind: 'consumer' },
  ]);
  expect(found).toMatchObject([{ shape: 'queue-wait', savingUs: 0 }]);
});

test('in any trace no shape saves more than the trace, and the order of spans decides nothing', () => {
  let count = 0;
  for (let seed = 1; seed <= 200; seed += 1) {
    // One operation, so that it repeats.
    const spans = randomTrace(seed).map((span) => ({ ...span, name: 'op', service: 'shop' }));
    const { analysis, onPath } = examined(spans);
    const totalUs = analysis.summary.endUs - analysis.summary.startUs;
    const found = findShapes(analysis, onPath);
    count += found.length;
    for (const { savingUs } of found) {
      expect(savingUs, `seed ${seed}`).toBeGreaterThanOrEqual(0);
      expect(savingUs, `seed ${seed}`).toBeLessThanOrEqual(totalUs);
    }
    const again = examined(spans.toReversed());
    expect(findShapes(again.analysis, again.onPath), `seed ${seed}`).toEqual(found);
  }
  expect(count).toBeGreaterThan(50);
});
