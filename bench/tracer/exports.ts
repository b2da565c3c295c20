import { gunzipSync, gzipSync } from 'node:zlib';
import { encodeExport } from '../../src/tracer/otlp/encode-export.ts';
import type { SpanInput } from '../../src/tracer/otlp/export-model.ts';
import { resourceOf } from './attributes.ts';
import { TraceMaker } from './traces.ts';

/** A body as an exporter posts it. */
export interface Export {
  /** ExportTraceServiceRequest, protobuf, gzip. */
  readonly gzip: Buffer;
  readonly spanCount: number;
}

/** Exports that belong together: every trace lies wholly in them. */
export interface Slice {
  readonly exports: readonly Export[];
  readonly spanCount: number;
  /** Some of its traces. */
  readonly traceIds: readonly string[];
}

/** What OpenTelemetry's batch processor sends at most at once. */
export const batchSpans = 512;

export interface SlicesOptions {
  readonly seed: number;
  /** How many spans each slice has; it may be a trace more. */
  readonly slices: readonly number[];
  /** Between these times the traces begin one after the other, in microseconds since the epoch. */
  readonly fromUs: number;
  readonly untilUs: number;
}

/**
 * Makes exports as nine processes send them: each gathers its own spans, of whatever traces, and sends
 * 512 at once. What is left at the end of a slice is sent as it is.
 */
export function* makeSlices({ seed, slices, fromUs, untilUs }: SlicesOptions): Generator<Slice> {
  const maker = new TraceMaker(seed);
  const total = slices.reduce((sum, spans) => sum + spans, 0);
  let made = 0;
  for (const wanted of slices) {
    const batches = new Batches();
    while (batches.spanCount < wanted) {
      const share = (made + batches.spanCount) / total;
      batches.add(maker, fromUs + (untilUs - fromUs) * share);
    }
    made += batches.spanCount;
    yield batches.finish();
  }
}

/** The bodies without compression. */
export function plainBodies({ exports }: Slice): Buffer[] {
  return exports.map(({ gzip }) => gunzipSync(gzip));
}

const keptTraceShare = 1 / 50;

class Batches {
  spanCount = 0;
  readonly #waiting = new Map<string, SpanInput[]>();
  readonly #exports: Export[] = [];
  readonly #traceIds: string[] = [];
  #traces = 0;

  add(maker: TraceMaker, startUs: number): void {
    const spans = maker.make(startUs);
    for (const { service, span } of spans) {
      const batch = this.#waiting.get(service) ?? [];
      this.#waiting.set(service, batch);
      batch.push(span);
      if (batch.length === batchSpans) this.#send(service);
    }
    this.spanCount += spans.length;
    this.#traces += 1;
    const [first] = spans;
    if (first && this.#traces % (1 / keptTraceShare) === 0) this.#traceIds.push(first.span.traceId);
  }

  finish(): Slice {
    for (const service of this.#waiting.keys()) this.#send(service);
    return { exports: this.#exports, spanCount: this.spanCount, traceIds: this.#traceIds };
  }

  #send(service: string): void {
    const spans = this.#waiting.get(service) ?? [];
    this.#waiting.delete(service);
    if (spans.length > 0) this.#exports.push(encode(service, spans));
  }
}

function encode(service: string, spans: readonly SpanInput[]): Export {
  const scope = { name: '@opentelemetry/instrumentation-http', version: '0.207.0' };
  const resource = { attributes: resourceOf(service) };
  const body = encodeExport([{ resource, scopes: [{ scope, spans }] }]);
  return { gzip: gzipSync(body), spanCount: spans.length };
}
