import { expect, test } from 'vitest';
import { alignClocks, type ClockSkew } from './clock-skew.ts';
import { spanKinds, type Span, type SpanHead } from './span.ts';
import { headOf, randomTrace, shuffled } from './testing.ts';
import { buildTree } from './tree.ts';

const { client, server, producer, consumer } = spanKinds;
const shop = { service: 'shop', host: 'shop-1', kind: client };
const stock = { service: 'stock', host: 'stock-1', kind: server, parentSpanId: 'call' };

/** openzipkin/zipkin, zipkin-lens/testdata/skew.json, the shared span in its two halves. */
const zipkin: readonly SpanHead[] = [
  headOf('get', [1470150004071068, 1470150004170479], {
    service: 'servicea',
    host: '127.0.0.0',
    kind: server,
  }),
  headOf('call', [1470150004074202, 1470150004168741], {
    service: 'servicea',
    host: '127.0.0.0',
    kind: client,
    parentSpanId: 'get',
  }),
  headOf('post', [1470150004008761, 1470150004102338], {
    service: 'serviceb',
    host: '192.0.0.0',
    kind: server,
    parentSpanId: 'call',
  }),
  headOf('async', [1470150004008762, 1470150004073762], {
    service: 'serviceb',
    host: '192.0.0.0',
    parentSpanId: 'post',
  }),
];

const untouched: [title: string, heads: SpanHead[]][] = [
  ['a server within its client', [call([0, 100]), answer([10, 90])]],
  ['the same host', [call([0, 100]), answer([-50, 20], { host: 'shop-1' })]],
  ['an unknown host', [call([0, 100]), answer([-50, 20], { host: undefined })]],
  ['a client that is a server’s child', [answer([0, 100]), call([-9, 9], { parentSpanId: 'B' })]],
  ['a server that outlasts a client that gave up', [call([0, 100]), answer([10, 500])]],
  [
    'a consumer long after its producer',
    [call([0, 100], { kind: producer }), answer([900, 950], { kind: consumer })],
  ],
  ['no pair at all', [headOf('A', [0, 5], { host: 'a' })]],
];

test.each(untouched)('clocks stay as they are with %s', (_title, heads) => {
  const tree = buildTree(heads);
  expect(alignClocks(tree)).toEqual({ tree, skews: [] });
  expect(alignClocks(tree).tree).toBe(tree);
});

const moved: [title: string, heads: SpanHead[], skews: ClockSkew[], times: number[][]][] = [
  [
    'a server that began before its client is put in its middle',
    [call([0, 100]), answer([-50, 20])],
    [{ from: 'shop-1', to: 'stock-1', offsetUs: 65, pairs: 1 }],
    [
      [0, 100],
      [15, 85],
    ],
  ],
  [
    'a server that fits but ended after its client',
    [call([0, 100]), answer([40, 120])],
    [{ from: 'shop-1', to: 'stock-1', offsetUs: -30, pairs: 1 }],
    [
      [0, 100],
      [10, 90],
    ],
  ],
  [
    'a server that is longer than its client is only moved to not begin before it',
    [call([0, 100]), answer([-50, 90])],
    [{ from: 'shop-1', to: 'stock-1', offsetUs: 50, pairs: 1 }],
    [
      [0, 140],
      [0, 100],
    ],
  ],
  [
    'a consumer that began before its producer',
    [call([0, 100], { kind: producer }), answer([-30, 20], { kind: consumer })],
    [{ from: 'shop-1', to: 'stock-1', offsetUs: 30, pairs: 1 }],
    [
      [0, 100],
      [0, 50],
    ],
  ],
  [
    'one pair of hosts has one offset, the median of its calls',
    [
      headOf('root', [0, 1000], { host: 'shop-1' }),
      ...[100, 300, 500].flatMap((at, index) => [
        headOf(`call${at}`, [at, at + 100], { ...shop, parentSpanId: 'root' }),
        headOf(`answer${at}`, [at - 60 - index * 4, at - 60 - index * 4 + 80], {
          ...stock,
          parentSpanId: `call${at}`,
        }),
      ]),
    ],
    [{ from: 'shop-1', to: 'stock-1', offsetUs: 74, pairs: 3 }],
    [
      [0, 1000],
      [100, 200],
      [114, 194],
      [300, 400],
      [310, 390],
      [500, 600],
      [506, 586],
    ],
  ],
  [
    'what hangs on a moved host moves with it, and the host that it calls in turn',
    [
      call([0, 100]),
      answer([-50, 20]),
      headOf('deep', [-40, 10], { ...shop, host: 'stock-1', parentSpanId: 'B' }),
      headOf('deepest', [-39, 5], { ...stock, host: 'db-1', parentSpanId: 'deep' }),
    ],
    [{ from: 'shop-1', to: 'stock-1', offsetUs: 65, pairs: 1 }],
    [
      [0, 100],
      [15, 85],
      [25, 75],
      [26, 70],
    ],
  ],
  [
    'two hosts that call each other have one offset, taken from both directions',
    [
      headOf('A', [0, 1000], shop),
      headOf('B', [-500, 400], { ...stock, parentSpanId: 'A' }),
      headOf('C', [-400, 300], { ...shop, host: 'stock-1', parentSpanId: 'B' }),
      headOf('D', [160, 820], { ...stock, host: 'shop-1', parentSpanId: 'C' }),
    ],
    [{ from: 'shop-1', to: 'stock-1', offsetUs: 545, pairs: 2 }],
    [
      [0, 1000],
      [45, 945],
      [145, 845],
      [160, 820],
    ],
  ],
  [
    'the host of the root keeps its times, though it is seen to be called first',
    [
      headOf('A', [0, 1000], shop),
      headOf('B', [600, 1500], { ...stock, parentSpanId: 'A' }),
      headOf('C', [700, 1400], { ...shop, host: 'stock-1', parentSpanId: 'B' }),
      headOf('D', [160, 840], { ...stock, host: 'shop-1', parentSpanId: 'C' }),
    ],
    [{ from: 'shop-1', to: 'stock-1', offsetUs: -550, pairs: 2 }],
    [
      [0, 1000],
      [50, 950],
      [150, 850],
      [160, 840],
    ],
  ],
];

test.each(moved)('%s', (_title, heads, skews, times) => {
  for (let seed = 0; seed < 4; seed += 1) {
    const aligned = alignClocks(buildTree(shuffled(heads, seed)));
    expect(aligned.skews).toEqual(skews);
    expect(aligned.tree.nodes.map(({ span }) => [span.startUs, span.endUs])).toEqual(times);
  }
});

test('the skewed trace of Zipkin is put right, asynchronous child included', () => {
  const { tree, skews } = alignClocks(buildTree(zipkin));
  expect(skews).toEqual([{ from: '127.0.0.0', to: '192.0.0.0', offsetUs: 65_922, pairs: 1 }]);
  expect(tree.byId.get('post')?.span).toMatchObject({
    startUs: 1470150004074683,
    endUs: 1470150004168260,
  });
  expect(tree.byId.get('async')?.span.startUs).toBe(1470150004074684);
});

test('events move with their span', () => {
  const whole = { attributes: {}, links: [], resource: {}, traceState: '' };
  const scope = { name: '', version: '' };
  const spans: Span[] = [
    { ...call([0, 100]), ...whole, scope, events: [] },
    { ...answer([-50, 20]), ...whole, scope, events: [{ name: 'x', timeUs: -40, attributes: {} }] },
  ];
  const { tree } = alignClocks(buildTree(spans));
  expect(tree.byId.get('B')?.span.events).toEqual([{ name: 'x', timeUs: 25, attributes: {} }]);
});

test('aligning keeps every span and its duration, whatever the trace and its order', () => {
  for (let seed = 0; seed < 200; seed += 1) {
    const heads = randomTrace(seed);
    const { tree, skews } = alignClocks(buildTree(heads));
    const again = alignClocks(buildTree(shuffled(heads, seed)));
    expect(again.skews).toEqual(skews);
    expect(tree.nodes).toHaveLength(heads.length);
    for (const head of heads) {
      const span = tree.byId.get(head.spanId)?.span;
      expect(span && span.endUs - span.startUs).toBe(head.endUs - head.startUs);
      expect(again.tree.byId.get(head.spanId)?.span).toEqual(span);
    }
  }
});

test(
  'a chain of 10,000 hosts, each behind its caller, is aligned without comparing each with each',
  {
    timeout: 20_000,
  },
  () => {
    const hosts = 10_000;
    const heads = Array.from({ length: 2 * hosts }, (_, at) => {
      const host = (at + 1) >> 1;
      return headOf(`span-${at}`, [-5 * host, 100 - 5 * host], {
        parentSpanId: at === 0 ? undefined : `span-${at - 1}`,
        host: `host-${host}`,
        kind: at % 2 === 0 ? client : server,
      });
    });
    const { tree, skews } = alignClocks(buildTree(heads));
    expect(skews).toHaveLength(hosts);
    expect(new Set(skews.map(({ offsetUs }) => offsetUs))).toEqual(new Set([5]));
    expect(tree.nodes.every(({ span }) => span.startUs === 0)).toBe(true);
  },
);

function call(times: [number, number], facts: Partial<SpanHead> = {}): SpanHead {
  return headOf('call', times, { ...shop, ...facts });
}

function answer(times: [number, number], facts: Partial<SpanHead> = {}): SpanHead {
  return headOf('B', times, { ...stock, ...facts });
}
