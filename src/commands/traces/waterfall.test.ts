import { expect, test } from 'vitest';
import type { TraceDetail, TraceSpan } from '../../tracer/schemas/trace-answers.ts';
import { drawWaterfall, formatDuration } from './waterfall.ts';

const start = '2026-01-01T00:00:00.000Z';

function span(spanId: string, facts: Partial<TraceSpan> = {}): TraceSpan {
  return {
    spanId,
    name: `span ${spanId}`,
    service: 'api',
    agent: 'api',
    kind: 'internal',
    startTime: start,
    duration: 1,
    offsetUs: 0,
    durationUs: 1000,
    selfTime: 1,
    onCriticalPath: false,
    status: 'success',
    tags: {},
    ...facts,
  };
}

function draw(spans: TraceSpan[], canvas = { columns: 80, hasColours: false }): string[] {
  const detail: TraceDetail = {
    traceId: '1'.repeat(32),
    name: 'trace',
    startTime: start,
    endTime: start,
    duration: 1,
    status: 'success',
    agents: [],
    tags: {},
    spans,
    totalSpans: spans.length,
    metrics: { totalDuration: 1, networkTime: 0, processingTime: 1, overhead: 0 },
    isComplete: true,
    revision: 1,
  };
  return drawWaterfall(detail, canvas);
}

const names = (lines: readonly string[]) => lines.map((line) => /span \w+/.exec(line)?.[0]);

interface Extent {
  readonly length: number;
  readonly end: number;
}

function extentOf(line: string, fill: string): Extent {
  return { length: line.split(fill).length - 1, end: line.lastIndexOf(fill) };
}

test('a trace without spans has no lines', () => {
  expect(draw([])).toEqual([]);
});

test('spans whose parents are missing or each other are shown all the same', () => {
  const lines = draw([
    span('lost', { parentSpanId: 'nowhere' }),
    span('x', { parentSpanId: 'y' }),
    span('y', { parentSpanId: 'x' }),
    span('z', { parentSpanId: 'z' }),
  ]);
  expect(names(lines)).toEqual(['span lost', 'span x', 'span y', 'span z']);
});

test('names of others cannot steer the terminal', () => {
  const [line] = draw([
    span('a', {
      name: '\u001B[2Jgone',
      service: 'a\rb',
      status: 'error',
      statusMessage: 'x\u0007',
    }),
  ]);
  expect(line).toMatch(/^a\?b \?\[2Jgone .*! x\?$/);
});

test('spans stand below their parents, by start', () => {
  const lines = draw([
    span('root', { durationUs: 100 }),
    span('late', { parentSpanId: 'root', offsetUs: 50, durationUs: 50 }),
    span('early', { parentSpanId: 'root', offsetUs: 0, durationUs: 20 }),
    span('deep', { parentSpanId: 'early', offsetUs: 5, durationUs: 5 }),
  ]);
  expect(names(lines)).toEqual(['span root', 'span early', 'span deep', 'span late']);
  expect(lines.map((line) => line.indexOf('span'))).toEqual([4, 6, 8, 6]);
});

test('a bar lies where its span ran, full on the critical path, and is never empty', () => {
  const [root = '', late = '', point = ''] = draw([
    span('a', { durationUs: 1000, onCriticalPath: true }),
    span('b', { parentSpanId: 'a', offsetUs: 500, durationUs: 500 }),
    span('c', { parentSpanId: 'a', offsetUs: 1000, durationUs: 0 }),
  ]);
  const places = [extentOf(root, '█'), extentOf(late, '░'), extentOf(point, '░')];
  const [bar, half, last] = places as [Extent, Extent, Extent];
  expect(half.length).toBe(Math.floor(bar.length / 2));
  expect(half.end).toBe(bar.end);
  expect(last.length).toBe(1);
  expect(root).toMatch(/1\.00 ms \*$/);
});

test('failures and tokens are marked', () => {
  const usage = { 'gen_ai.usage.input_tokens': 12, 'gen_ai.usage.output_tokens': 3 };
  const [failed, asked] = draw([
    span('a', { status: 'timeout', statusMessage: 'too slow' }),
    span('b', { offsetUs: 1, tags: usage }),
  ]);
  expect(failed).toMatch(/! timeout too slow$/);
  expect(asked).toMatch(/12→3 tokens$/);
});

test('each service has its colour on a terminal with colours, and none elsewhere', () => {
  const spans = [span('a'), span('b', { service: 'db', offsetUs: 1, status: 'error' })];
  const [first, second] = draw(spans, { columns: 80, hasColours: true });
  expect(first?.startsWith('\u001B[36mapi')).toBe(true);
  expect(second?.startsWith('\u001B[33mdb')).toBe(true);
  expect(second).toContain('\u001B[31m!');
  expect(draw(spans).join('')).not.toContain('\u001B');
});

test('ten thousand spans in one another are drawn, and no line is wider than the terminal', () => {
  const spans = Array.from({ length: 10_000 }, (_, index) =>
    span(String(index), {
      offsetUs: index,
      ...(index > 0 ? { parentSpanId: String(index - 1) } : {}),
    }),
  );
  const lines = draw(spans);
  expect(lines).toHaveLength(10_000);
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
});

test.each([
  [0, '0 µs'],
  [999, '999 µs'],
  [1234, '1.23 ms'],
  [123_456, '123 ms'],
  [12_345_678, '12.3 s'],
  [125_000_000, '2 min 5 s'],
])('%d microseconds are written as %s', (microseconds, text) => {
  expect(formatDuration(microseconds)).toBe(text);
});
