import { SpanKind, type Tracer as SdkTracer } from '@opentelemetry/api';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { HexPool } from '../../src/kit/ids.ts';
import { Tracer, type SpanRecord } from '../../src/kit/trace/trace.ts';
import { encodeOtlp } from '../../src/kit/trace/trace-export.ts';
import { loadPeer } from '../harness/peers.ts';
import type { PrepareLoop } from './loops.ts';

const batchSize = 512;
const name = 'POST /chat';
const initial = { 'http.request.method': 'POST', 'http.route': '/chat' };
const resource = { 'service.name': 'bench', 'service.version': '1.0.0' };

/** Recording a span with two attributes from the start and three set later, and encoding one. */
export const spanLoops: Readonly<Record<string, PrepareLoop>> = {
  'span kit': async () => {
    let ended: SpanRecord[] = [];
    const tracer = new Tracer((span) => ended.push(span));
    return inBatches(
      () => recordSpan(tracer),
      (size) => {
        requireCount(ended.length, size);
        ended = [];
      },
    );
  },

  'span object': async () => {
    const ids = new HexPool();
    let ended: unknown[] = [];
    return inBatches(
      () => ended.push(plainSpan(ids)),
      () => {
        ended = [];
      },
    );
  },

  'span sdk': async () => {
    const { tracer, flush, counts } = createSdk();
    let expected = 0;
    return inBatches(
      () => recordSdkSpan(tracer),
      async (size) => {
        expected += size;
        await flush();
        requireCount(counts.exported, expected);
      },
    );
  },

  'encode kit': async () => {
    const spans: SpanRecord[] = [];
    const tracer = new Tracer((span) => spans.push(span));
    for (let at = 0; at < batchSize; at += 1) recordSpan(tracer);
    const batch = spans.map((span) => ({ resource, span }));
    return perBatch(() => encodeOtlp(batch).length);
  },

  'encode json': async () => {
    const spans: SpanRecord[] = [];
    const tracer = new Tracer((span) => spans.push(span));
    for (let at = 0; at < batchSize; at += 1) recordSpan(tracer);
    return perBatch(() => JSON.stringify(spans).length);
  },

  'encode sdk': async () => {
    const { tracer, flush, kept } = createSdk();
    for (let at = 0; at < batchSize; at += 1) recordSdkSpan(tracer);
    await flush();
    const { JsonTraceSerializer } = loadPeer('@opentelemetry/otlp-transformer') as Transformer;
    return perBatch(() => JsonTraceSerializer.serializeRequest(kept).length);
  },
};

/** What is used of @opentelemetry/sdk-trace-base. */
interface Sdk {
  readonly BasicTracerProvider: new (options: { readonly spanProcessors: readonly unknown[] }) => {
    getTracer(name: string): SdkTracer;
    forceFlush(): Promise<void>;
  };
  readonly BatchSpanProcessor: new (exporter: unknown) => unknown;
}

/** What is used of @opentelemetry/otlp-transformer. */
interface Transformer {
  readonly JsonTraceSerializer: {
    readonly serializeRequest: (spans: readonly unknown[]) => Uint8Array;
  };
}

/** The SDK as its documentation sets it up, with an exporter that takes everything and sends nothing. */
function createSdk() {
  const { BasicTracerProvider, BatchSpanProcessor } = loadPeer(
    '@opentelemetry/sdk-trace-base',
  ) as Sdk;
  const counts = { exported: 0 };
  const kept: unknown[] = [];
  const exporter = {
    export(spans: readonly unknown[], done: (result: { code: number }) => void) {
      counts.exported += spans.length;
      if (kept.length < batchSize) kept.push(...spans);
      done({ code: 0 });
    },
    shutdown: async () => {},
  };
  const provider = new BasicTracerProvider({ spanProcessors: [new BatchSpanProcessor(exporter)] });
  return {
    tracer: provider.getTracer('bench'),
    flush: () => provider.forceFlush(),
    counts,
    kept,
  };
}

function recordSpan(tracer: Tracer): void {
  const span = tracer.start(name, { kind: SpanKind.SERVER, attributes: initial });
  span.setAttribute('enduser.id', 'usr_1');
  span.setAttribute('http.response.status_code', 200);
  span.setAttribute('url.path', '/chat');
  span.end();
}

function recordSdkSpan(tracer: SdkTracer): void {
  const span = tracer.startSpan(name, { kind: SpanKind.SERVER, attributes: initial });
  span.setAttribute('enduser.id', 'usr_1');
  span.setAttribute('http.response.status_code', 200);
  span.setAttribute('url.path', '/chat');
  span.end();
}

/** What no recorder can do without: two random ids, two times, the attributes. */
function plainSpan(ids: HexPool) {
  const start = performance.timeOrigin + performance.now();
  return {
    traceId: ids.next(16),
    spanId: ids.next(8),
    name,
    attributes: {
      'http.request.method': 'POST',
      'http.route': '/chat',
      'enduser.id': 'usr_1',
      'http.response.status_code': 200,
      'url.path': '/chat',
    },
    start,
    end: performance.timeOrigin + performance.now(),
  };
}

/** Records batch by batch; the event loop turns in between, or the SDK would drop what it cannot queue. */
function inBatches(record: () => unknown, takeBatch: (size: number) => void | Promise<void>) {
  return async (operations: number) => {
    for (let left = operations; left > 0; left -= batchSize) {
      const size = Math.min(left, batchSize);
      for (let at = 0; at < size; at += 1) record();
      await nextTurn();
      await takeBatch(size);
    }
  };
}

function perBatch(encode: () => number) {
  return (operations: number) => {
    for (let done = 0; done < operations; done += batchSize) {
      if (encode() === 0) throw new Error('nothing was encoded');
    }
  };
}

function requireCount(actual: number, expected: number): void {
  if (actual !== expected) throw new Error(`${actual} spans of ${expected} were taken`);
}
