import { Value } from 'typebox/value';
import { expect, test } from 'vitest';
import type { StoredTrace } from '../../reading/view.ts';
import {
  criticalPath,
  traceDetail,
  type CriticalPathAnswer,
  type TraceDetail,
} from '../../schemas/trace-answers.ts';
import { analyse } from '../analyse.ts';
import { spanKinds, type Span, type SpanHead } from '../span.ts';
import { headOf, randomTrace, shuffled } from '../testing.ts';
import { criticalPathView, type CriticalPathInput } from './critical-path-view.ts';
import { detailView, type DetailInput } from './detail-view.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const startUs = Date.parse('2026-11-21T12:00:00.000Z') * 1000;
const { client, server } = spanKinds;

/** A request that a server of another host answers, half a second too early by its clock. */
const skewed: readonly Span[] = [
  spanOf('root', [0, 1_000_400], { kind: server, host: 'shop-1' }),
  spanOf('call', [100_000, 900_000], { parentSpanId: 'root', kind: client, host: 'shop-1' }),
  spanOf('answer', [-400_000, 300_000], {
    parentSpanId: 'call',
    kind: server,
    host: 'stock-1',
    service: 'stock',
    isError: true,
    errorCode: 'MODEL_TIMEOUT',
    statusMessage: 'too slow',
  }),
];

test('a trace is told with the facts of its summary, its spans and where its time went', () => {
  const answer = detailOf(skewed);
  expect(answer).toEqual({
    traceId,
    name: 'op root',
    startTime: '2026-11-21T12:00:00.000Z',
    endTime: '2026-11-21T12:00:01.000Z',
    duration: 1000,
    status: 'timeout',
    agents: ['shop', 'stock'],
    tags: { of: 'root', count: 1 },
    error: { code: 'MODEL_TIMEOUT', message: 'too slow', spanId: 'answer', agent: 'stock' },
    spans: [
      expect.objectContaining({ spanId: 'root', kind: 'server', duration: 1000, selfTime: 200 }),
      expect.objectContaining({ spanId: 'call', parentSpanId: 'root', selfTime: 100 }),
      {
        spanId: 'answer',
        parentSpanId: 'call',
        name: 'op answer',
        agent: 'stock',
        service: 'stock',
        kind: 'server',
        status: 'timeout',
        statusMessage: 'too slow',
        startTime: '2026-11-21T12:00:00.150Z',
        duration: 700,
        offsetUs: 150_000,
        durationUs: 700_000,
        selfTime: 700,
        onCriticalPath: true,
        tags: {
          of: 'answer',
          count: 1,
        },
      },
    ],
    totalSpans: 3,
    metrics: { totalDuration: 1000, networkTime: 100, processingTime: 900, overhead: 0 },
    clockSkew: [{ from: 'shop-1', to: 'stock-1', offsetUs: 550_000, pairs: 1 }],
    isComplete: true,
    revision: 2,
  });
});

test('raw times are those that were sent, and nothing says that they were moved', () => {
  const answer = detailOf(skewed, { raw: true });
  expect(answer.clockSkew).toBeUndefined();
  expect(answer.spans[0]).toMatchObject({
    spanId: 'answer',
    startTime: '2026-11-21T11:59:59.600Z',
    offsetUs: -400_000,
  });
});

test('events and links are told where there are any', () => {
  const links = [{ traceId, spanId: 'ef', attributes: { why: 'retry' } }];
  const events = [{ name: 'gone', timeUs: startUs + 5_000, attributes: { n: [1, null] } }];
  const answer = detailOf([{ ...spanOf('root', [0, 10_000]), events, links }]);
  expect(answer.spans[0]).toMatchObject({
    events: [{ name: 'gone', time: '2026-11-21T12:00:00.005Z', attributes: { n: [1, null] } }],
    links,
  });
});

test('the spans of a huge trace come in pages, what is said of the trace is the same on each', () => {
  const spans = Array.from({ length: 10_050 }, (_, at) =>
    spanOf(`span-${at}`, [at, 20_000], { parentSpanId: at === 0 ? undefined : 'span-0' }),
  );
  const first = detailOf(spans);
  const second = detailOf(spans, { spanOffset: 10_000 });
  const beyond = detailOf(spans, { spanOffset: 20_000, spanLimit: 5 });
  expect([first, second, beyond].map((answer) => answer.spans.length)).toEqual([10_000, 50, 0]);
  expect([first.totalSpans, beyond.totalSpans]).toEqual([10_050, 10_050]);
  expect(second.spans[0]?.spanId).toBe('span-10000');
  expect(second.metrics).toEqual(first.metrics);
});

test('tokens and cost of a trace are counted once, though an agent’s span repeats its calls’', () => {
  const call = (spanId: string, genAi: SpanHead['genAi'], parentSpanId?: string) =>
    spanOf(spanId, [0, 10], { parentSpanId, genAi });
  const chat = { operation: 'chat', model: 'small-1', inputTokens: 100, outputTokens: 20 };
  const answer = detailOf([
    call('agent', { operation: 'invoke_agent', inputTokens: 200, outputTokens: 40 }),
    call('first', { ...chat, costUsd: 0.1 }, 'agent'),
    call('tool', { operation: 'execute_tool', tool: 'search' }, 'agent'),
    call('second', { ...chat, model: 'large-1', costUsd: 0.2 }, 'agent'),
  ]);
  expect(answer.genAi).toMatchObject({ inputTokens: 200, outputTokens: 40, costUsd: 0.3 });
  expect(answer.genAi?.models.toSorted()).toEqual(['large-1', 'small-1']);
  expect(answer.genAi?.tools).toEqual(['search']);
});

test('the critical path has one entry a span, with its time on the path', () => {
  expect(pathOf(skewed)).toEqual({
    traceId,
    criticalPath: [
      entryOf('root', { duration: 200, percentOfTotal: 20.03 }),
      entryOf('call', { duration: 100, percentOfTotal: 10 }),
      entryOf('answer', { duration: 700, percentOfTotal: 69.97 }),
    ],
    totalDuration: 1000,
    criticalPathDuration: 1000,
    percentOfTotal: 100,
  });
});

test('time between roots is no span’s, and what runs on after the root is marked', () => {
  const roots = [spanOf('A', [0, 4_000]), spanOf('B', [6_000, 10_000])];
  expect(pathOf(roots)).toMatchObject({
    totalDuration: 10,
    criticalPathDuration: 8,
    percentOfTotal: 80,
    uninstrumented: 2,
  });
  const tail = [spanOf('A', [0, 5_000]), spanOf('B', [4_000, 20_000], { parentSpanId: 'A' })];
  const answer = pathOf(tail);
  expect(answer).toMatchObject({
    criticalPath: [
      entryOf('A', { duration: 4, percentOfTotal: 20 }),
      { ...entryOf('B', { duration: 16, percentOfTotal: 80 }), isAsync: true },
    ],
    totalDuration: 20,
    criticalPathDuration: 20,
    percentOfTotal: 100,
  });
  expect(answer.uninstrumented).toBeUndefined();
});

test('work that a queue delivers is on the path, its wait in the queue is told', () => {
  const { producer, consumer } = spanKinds;
  const spans = [
    spanOf('POST', [0, 20_000], { kind: server }),
    spanOf('publish', [5_000, 10_000], { parentSpanId: 'POST', kind: producer }),
    spanOf('consume', [1_010_000, 1_510_000], { parentSpanId: 'publish', kind: consumer }),
    spanOf('db', [1_050_000, 1_450_000], { parentSpanId: 'consume', kind: client }),
  ];
  const answer = pathOf(spans);
  expect(answer).toMatchObject({
    totalDuration: detailOf(spans).duration,
    criticalPathDuration: 520,
    uninstrumented: 990,
    queueWait: 990,
  });
  expect(
    answer.criticalPath.map(({ name, duration, isAsync }) => [name, duration, isAsync]),
  ).toEqual([
    ['op POST', 15, undefined],
    ['op publish', 5, undefined],
    ['op consume', 100, true],
    ['op db', 400, true],
  ]);
});

test.each([10_000_000, -10_000_000, -200_000])(
  'with a clock %i µs off, all that is said of a trace is by the times of its spans that are shown',
  (offUs) => {
    const spans = [
      spanOf('root', [0, 100_000], { kind: server, host: 'shop-1' }),
      spanOf('send', [10_000, 20_000], { parentSpanId: 'root', kind: client, host: 'shop-1' }),
      spanOf('serve', [12_000 + offUs, 18_000 + offUs], {
        parentSpanId: 'send',
        kind: server,
        host: 'stock-1',
        service: 'stock',
      }),
      spanOf('after', [15_000 + offUs, 500_000 + offUs], {
        parentSpanId: 'serve',
        host: 'stock-1',
        service: 'stock',
      }),
    ];
    const listed = analyse(spans).summary;
    const detail = detailOf(spans);
    expect(detail.clockSkew).toHaveLength(1);
    expect(detail).toMatchObject({
      startTime: '2026-11-21T12:00:00.000Z',
      endTime: '2026-11-21T12:00:00.500Z',
      duration: 500,
      status: listed.status,
      agents: listed.agents,
      totalSpans: listed.spanCount,
    });
    expect(detail.metrics.overhead).toBe(0);
    expect(detailOf(spans, { raw: true })).toMatchObject({
      startTime: new Date(listed.startUs / 1000).toISOString(),
      endTime: new Date(listed.endUs / 1000).toISOString(),
      duration: (listed.endUs - listed.startUs) / 1000,
    });
    const { totalDuration, networkTime, processingTime, overhead } = detail.metrics;
    expect(totalDuration).toBe(detail.duration);
    expect(networkTime + processingTime + overhead).toBe(totalDuration);
    const path = pathOf(spans);
    expect(path.totalDuration).toBe(detail.duration);
    expect(path.percentOfTotal).toBe(100);
    expect(detail.spans.find(({ spanId }) => spanId === 'serve')?.startTime).toBe(
      '2026-11-21T12:00:00.012Z',
    );
  },
);

test('a trace that took no time is its own path', () => {
  expect(pathOf([spanOf('A', [7, 7])])).toMatchObject({
    criticalPath: [
      {
        spanId: 'A',
        duration: 0,
        percentOfTotal: 100,
      },
    ],
    totalDuration: 0,
    criticalPathDuration: 0,
    percentOfTotal: 100,
  });
});

test('the milliseconds of any trace add up, and its answers keep to their schemas', () => {
  for (let seed = 0; seed < 80; seed += 1) {
    const spans = randomTrace(seed).map((head) => wholeSpan(head));
    const detail = detailOf(spans);
    const { totalDuration, networkTime, processingTime, overhead } = detail.metrics;
    expect(networkTime + processingTime + overhead).toBe(totalDuration);
    expect(totalDuration).toBe(detail.duration);
    const path = pathOf(spans);
    const sum = path.criticalPath.reduce((all, { duration }) => all + duration, 0);
    expect(sum).toBe(path.criticalPathDuration);
    expect(sum + (path.uninstrumented ?? 0)).toBe(path.totalDuration);
    expect(path.totalDuration).toBe(detail.duration);
    expect(Value.Check(traceDetail, detail)).toBe(true);
    expect(Value.Check(criticalPath, path)).toBe(true);
    expect(detailOf(shuffled(spans, seed))).toEqual(detail);
    expect(pathOf(shuffled(spans, seed))).toEqual(path);
  }
});

function detailOf(spans: readonly Span[], input: DetailInput = {}): TraceDetail {
  return detailView(stored(spans), input) as TraceDetail;
}

function pathOf(spans: readonly Span[], input: CriticalPathInput = {}): CriticalPathAnswer {
  return criticalPathView(stored(spans), input) as CriticalPathAnswer;
}

function stored(spans: readonly Span[]): StoredTrace {
  return { traceId, spans, isComplete: true, revision: 2, bodies: [] };
}

/** Times are microseconds after noon. */
function spanOf(
  spanId: string,
  [fromUs, toUs]: readonly [number, number],
  facts: Partial<SpanHead> = {},
): Span {
  return wholeSpan(headOf(spanId, [startUs + fromUs, startUs + toUs], facts));
}

function wholeSpan(head: SpanHead): Span {
  return {
    ...head,
    attributes: {
      of: head.spanId,
      count: 1,
    },
    events: [],
    links: [],
    resource: {},
    traceState: '',
    scope: {
      name: 'test',
      version: '1',
    },
  };
}

function entryOf(spanId: string, times: { duration: number; percentOfTotal: number }) {
  const service = spanId === 'answer' ? 'stock' : 'shop';
  return { spanId, name: `op ${spanId}`, service, agent: service, ...times };
}
