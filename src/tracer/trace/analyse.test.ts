import { expect, test } from 'vitest';
import { analyse } from './analyse.ts';
import { spanKinds, type SpanHead } from './span.ts';
import { headOf, randomTrace, shuffled } from './testing.ts';

const { client, server, producer, consumer } = spanKinds;

test('a trace without spans cannot be analysed', () => {
  expect(() => analyse([])).toThrow(RangeError);
});

test('a failed span makes its trace fail, named by the deepest failing span', () => {
  const { summary } = analyse([
    headOf('root', [0, 100], { isError: true, errorCode: '500', statusMessage: 'no' }),
    headOf('call', [10, 90], { parentSpanId: 'root', isError: true }),
    headOf('late', [40, 80], {
      parentSpanId: 'call',
      isError: true,
      errorCode: 'ECONNRESET',
      agent: 'stock',
      statusMessage: 'socket hang up',
    }),
    headOf('first', [20, 30], {
      parentSpanId: 'call',
      isError: true,
      errorCode: 'EPIPE',
      agent: 'stock',
      statusMessage: 'broken pipe',
    }),
  ]);
  expect(summary).toMatchObject({
    status: 'error',
    errorCount: 4,
    error: { code: 'EPIPE', message: 'broken pipe', spanId: 'first', agent: 'stock' },
  });
});

test('a trace fails though its root says that all is well', () => {
  const { summary } = analyse([
    headOf('root', [0, 100]),
    headOf('child', [1, 2], { parentSpanId: 'root', isError: true }),
  ]);
  expect(summary.error).toEqual({
    code: 'ERROR',
    message: 'op child failed',
    spanId: 'child',
    agent: 'shop',
  });
});

test('a long message is cut, never within a character', () => {
  const statusMessage = `${'x'.repeat(999)}\u{1F600}${'y'.repeat(5_000)}`;
  const { summary } = analyse([headOf('A', [0, 1], { isError: true, statusMessage })]);
  expect(summary.error?.message).toBe('x'.repeat(999));
});

test.each([
  ['DeadlineExceeded', 'timeout'],
  ['DEADLINE_EXCEEDED', 'timeout'],
  ['ETIMEDOUT', 'timeout'],
  ['ESOCKETTIMEDOUT', 'timeout'],
  ['ETIME', 'timeout'],
  ['UND_ERR_HEADERS_TIMEOUT', 'timeout'],
  ['MODEL_TIMEOUT', 'timeout'],
  ['TimeoutError', 'timeout'],
  ['java.net.SocketTimeoutException', 'timeout'],
  ['timed_out', 'timeout'],
  ['Request Time-out', 'timeout'],
  ['504', 'timeout'],
  ['408', 'timeout'],
  ['HTTP_504', 'timeout'],
  ['RuntimeOutOfMemoryError', 'error'],
  ['RUNTIME_OUTPUT', 'error'],
  ['RequestTimeTooSkewed', 'error'],
  ['1504', 'error'],
  ['5040', 'error'],
  ['v1.504', 'error'],
  ['TypeError', 'error'],
  ['timestamp', 'error'],
])('an error of code %s is a trace of status %s', (errorCode, status) => {
  const { summary } = analyse([headOf('A', [0, 1], { isError: true, errorCode })]);
  expect(summary.status).toBe(status);
});

test.each([
  'order 504 not found',
  'option "timeout" must be a number',
  'the job timed out',
  undefined,
])('only a code tells a timeout, not the message %j', (statusMessage) => {
  const statusOf = (facts: Partial<SpanHead>) =>
    analyse([headOf('timeout check', [0, 1], { isError: true, statusMessage, ...facts })]).summary
      .status;
  expect(statusOf({})).toBe('error');
  expect(statusOf({ errorCode: 'SyntaxError' })).toBe('error');
  expect(statusOf({ errorCode: 'ETIMEDOUT' })).toBe('timeout');
  expect(statusOf({ isError: false })).toBe('success');
});

test('a root that gave up waiting is a timeout, whatever its callee said when it was cut off', () => {
  const { summary } = analyse([
    headOf('root', [0, 100], { isError: true, errorCode: 'MODEL_TIMEOUT' }),
    headOf('call', [0, 100], { parentSpanId: 'root', isError: true, errorCode: 'AbortError' }),
  ]);
  expect(summary).toMatchObject({ status: 'timeout', error: { code: 'AbortError' } });
});

test('a trace without a root is partial and speaks by its earliest orphan', () => {
  const { summary } = analyse([
    headOf('late', [50, 120], { parentSpanId: 'missing' }),
    headOf('early', [10, 60], { parentSpanId: 'missing', service: 'stock' }),
  ]);
  expect(summary).toMatchObject({
    isPartial: true,
    name: 'op early',
    service: 'stock',
    rootSpanId: 'early',
    startUs: 10,
    endUs: 120,
    agents: ['stock', 'shop'],
  });
});

test('of several roots the longest speaks, and a true root before any orphan', () => {
  const { summary } = analyse([
    headOf('orphan', [0, 900], { parentSpanId: 'missing' }),
    headOf('short', [10, 20]),
    headOf('long', [30, 90]),
  ]);
  expect(summary).toMatchObject({ name: 'op long', isPartial: false, startUs: 0, endUs: 900 });
});

test('a trace lasts as long as its root, unless something outlasts it', () => {
  const root = headOf('root', [10, 100]);
  const intervalOf = (child: SpanHead) => {
    const { startUs, endUs } = analyse([root, child]).summary;
    return [startUs, endUs];
  };
  expect(intervalOf(headOf('A', [5, 90], { parentSpanId: 'root' }))).toEqual([10, 100]);
  expect(intervalOf(headOf('A', [20, 130], { parentSpanId: 'root' }))).toEqual([10, 130]);
});

test('agents and services are named once, the root’s first', () => {
  const { summary } = analyse([
    headOf('root', [10, 100], { service: 'shop', agent: 'buyer' }),
    headOf('A', [5, 90], { parentSpanId: 'root', service: 'stock', agent: 'keeper' }),
    headOf('B', [20, 30], { parentSpanId: 'root', service: 'shop', agent: 'buyer' }),
    headOf('C', [40, 50], { parentSpanId: 'root', service: 'stock', agent: 'buyer' }),
  ]);
  expect(summary).toMatchObject({ agents: ['buyer', 'keeper'], services: ['shop', 'stock'] });
});

test('self time is what no child covers, overlaps and overhangs counted once', () => {
  const { spans } = analyse([
    headOf('root', [0, 100]),
    headOf('A', [10, 40], { parentSpanId: 'root' }),
    headOf('B', [30, 50], { parentSpanId: 'root' }),
    headOf('C', [35, 45], { parentSpanId: 'root' }),
    headOf('D', [90, 100], { parentSpanId: 'root' }),
    headOf('E', [-20, -5], { parentSpanId: 'root' }),
    headOf('F', [95, 130], { parentSpanId: 'D' }),
  ]);
  const selfOf = (spanId: string) => spans.find(({ head }) => head.spanId === spanId)?.selfUs;
  expect([selfOf('root'), selfOf('A'), selfOf('D'), selfOf('F')]).toEqual([50, 30, 5, 35]);
});

test('entries and calls that leave what is traced are told apart', () => {
  const { spans } = analyse([
    headOf('in', [0, 100], { kind: server }),
    headOf('work', [0, 90], { parentSpanId: 'in' }),
    headOf('answered', [0, 30], { parentSpanId: 'work', kind: client }),
    headOf('wire', [1, 29], { parentSpanId: 'answered', kind: client }),
    headOf('there', [2, 28], { parentSpanId: 'wire', kind: server, service: 'stock' }),
    headOf('helper', [2, 28], { parentSpanId: 'there', service: 'stock' }),
    headOf('self', [30, 40], { parentSpanId: 'work', kind: client }),
    headOf('replica', [31, 39], { parentSpanId: 'self', kind: server }),
    headOf('database', [40, 50], { parentSpanId: 'work', kind: client }),
    headOf('driver', [41, 42], { parentSpanId: 'database' }),
    headOf('publish', [50, 60], { parentSpanId: 'work', kind: producer }),
    headOf('consume', [70, 80], { parentSpanId: 'publish', kind: consumer }),
    headOf('fire', [60, 61], { parentSpanId: 'work', kind: producer }),
    headOf('sidecar', [62, 63], { parentSpanId: 'work', service: 'proxy' }),
  ]);
  const idsOf = (is: 'isEntry' | 'isExternalCall') =>
    spans.filter((span) => span[is]).map(({ head }) => head.spanId);
  expect(idsOf('isEntry')).toEqual(['in', 'there', 'replica', 'sidecar', 'consume']);
  expect(idsOf('isExternalCall')).toEqual(['database', 'fire']);
});

test('durations are those of the aligned clocks, times those that were sent', () => {
  const shop = { kind: client, host: 'shop-1' };
  const stock = { kind: server, host: 'stock-1', service: 'stock', parentSpanId: 'call' };
  const { summary, split, spans } = analyse([
    headOf('call', [1000, 1100], shop),
    headOf('answer', [500, 570], stock),
  ]);
  expect(summary).toMatchObject({ startUs: 1000, endUs: 1100 });
  expect(split).toEqual({ totalUs: 100, networkUs: 30, processingUs: 70, overheadUs: 0 });
  expect(spans.map(({ head, selfUs }) => [head.startUs, selfUs])).toEqual([
    [500, 70],
    [1000, 30],
  ]);
});

test('the analysis of any trace is the same whatever order its spans came in', () => {
  for (let seed = 0; seed < 200; seed += 1) {
    const heads = randomTrace(seed);
    const analysis = analyse(heads);
    expect(analyse(shuffled(heads, seed))).toEqual(analysis);
    expect(analysis.spans).toHaveLength(heads.length);
    for (const { head, selfUs } of analysis.spans) {
      expect(selfUs).toBeGreaterThanOrEqual(0);
      expect(selfUs).toBeLessThanOrEqual(head.endUs - head.startUs);
    }
    const { split } = analysis;
    expect(split.networkUs + split.processingUs + split.overheadUs).toBe(split.totalUs);
  }
});
