import { expect, test } from 'vitest';
import { criticalPathOf } from './critical-path.ts';
import { spanKinds, type SpanHead } from './span.ts';
import { intervalOf } from './summary.ts';
import { headOf, randomTrace } from './testing.ts';
import { splitTime } from './time-split.ts';
import { buildTree } from './tree.ts';

const { client, server, producer, consumer } = spanKinds;
const call = { kind: client, service: 'shop' };
const stock = { kind: server, service: 'stock', parentSpanId: 'call' };

interface Expected {
  networkUs: number;
  processingUs: number;
  overheadUs: number;
}

const cases: [title: string, heads: SpanHead[], split: Expected][] = [
  [
    'nothing where nothing took time',
    [headOf('A', [5, 5])],
    { networkUs: 0, processingUs: 0, overheadUs: 0 },
  ],
  [
    'processing where a span is alone',
    [headOf('A', [0, 100])],
    { networkUs: 0, processingUs: 100, overheadUs: 0 },
  ],
  [
    'network where a client waits beyond its server',
    [headOf('call', [0, 100], call), headOf('B', [10, 80], stock)],
    { networkUs: 30, processingUs: 70, overheadUs: 0 },
  ],
  [
    'processing where nobody answers a client here',
    [headOf('A', [0, 100]), headOf('call', [20, 90], { ...call, parentSpanId: 'A' })],
    { networkUs: 0, processingUs: 100, overheadUs: 0 },
  ],
  [
    'processing for a server whose clock puts it outside of its client',
    [headOf('call', [0, 100], call), headOf('B', [-80, -10], stock)],
    { networkUs: 30, processingUs: 70, overheadUs: 0 },
  ],
  [
    'no network where the server took longer than its client waited',
    [headOf('call', [0, 100], call), headOf('B', [-10, 120], stock)],
    { networkUs: 0, processingUs: 130, overheadUs: 0 },
  ],
  [
    'network beside both answers of a client that asked twice',
    [headOf('call', [0, 100], call), headOf('B', [10, 40], stock), headOf('C', [50, 90], stock)],
    { networkUs: 30, processingUs: 70, overheadUs: 0 },
  ],
  [
    'network beside the answers of a client that hedged, of which the last decides',
    [headOf('call', [0, 100], call), headOf('B', [10, 90], stock), headOf('C', [20, 120], stock)],
    { networkUs: 20, processingUs: 100, overheadUs: 0 },
  ],
  [
    'no more network than a client waited itself',
    [
      headOf('call', [0, 100], call),
      headOf('B', [10, 20], stock),
      headOf('decode', [30, 95], { parentSpanId: 'call' }),
    ],
    { networkUs: 25, processingUs: 75, overheadUs: 0 },
  ],
  [
    'network of calls on the critical path only',
    [
      headOf('A', [0, 100]),
      headOf('call', [10, 40], { ...call, parentSpanId: 'A' }),
      headOf('B', [20, 30], stock),
      headOf('other', [10, 90], { parentSpanId: 'A' }),
    ],
    { networkUs: 0, processingUs: 100, overheadUs: 0 },
  ],
  [
    'overhead for the time that a message lay in a queue',
    [
      headOf('call', [0, 10], { kind: producer }),
      headOf('B', [500, 600], { kind: consumer, service: 'worker', parentSpanId: 'call' }),
      headOf('C', [550, 640], { service: 'worker', parentSpanId: 'B' }),
    ],
    { networkUs: 0, processingUs: 150, overheadUs: 490 },
  ],
  [
    'network of a call that goes on after the root',
    [
      headOf('A', [0, 10]),
      headOf('call', [5, 105], { ...call, parentSpanId: 'A' }),
      headOf('B', [30, 100], stock),
    ],
    { networkUs: 30, processingUs: 75, overheadUs: 0 },
  ],
  [
    'overhead for what lies between two roots',
    [headOf('A', [0, 10]), headOf('B', [30, 50])],
    { networkUs: 0, processingUs: 30, overheadUs: 20 },
  ],
];

test.each(cases)('tells %s', (_title, heads, expected) => {
  expect(splitOf(heads)).toMatchObject(expected);
});

test('network, processing and overhead of any trace add up to its interval, none below zero', () => {
  for (let seed = 0; seed < 300; seed += 1) {
    const heads = randomTrace(seed);
    const { totalUs, networkUs, processingUs, overheadUs } = splitOf(heads);
    const { startUs, endUs } = intervalOf(buildTree(heads));
    expect(totalUs).toBe(endUs - startUs);
    expect(networkUs + processingUs + overheadUs).toBe(totalUs);
    expect(Math.min(networkUs, processingUs, overheadUs)).toBeGreaterThanOrEqual(0);
  }
});

function splitOf(heads: readonly SpanHead[]) {
  return splitTime(criticalPathOf(buildTree(heads)));
}
