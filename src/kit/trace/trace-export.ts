import { request } from 'undici';
import type { Attributes } from '@opentelemetry/api';
import type { SpanRecord, SpanSink } from './trace.ts';

export interface ExporterOptions {
  /** Where OTLP/HTTP is taken: the address without `/v1/traces`. */
  readonly url: string;
  /** A token for the receiver; when it can't be had the spans are dropped. */
  readonly token?: () => Promise<string>;
  readonly flushMs?: number;
}

/** What the spans of one source have in common (OpenTelemetry resource attributes). */
export type Resource = Attributes;

interface Pending {
  readonly resource: Resource;
  readonly span: SpanRecord;
}

const batchMax = 512;
const pendingMax = 4096;
const timeoutMs = 5_000;
const pauseMsMax = 30_000;

/**
 * Sends ended spans as OTLP/HTTP JSON in batches. A receiver that does not listen costs nothing but
 * the spans: they are dropped without a word, and for a growing pause (to 30 s) not even collected.
 */
export class SpanExporter implements AsyncDisposable {
  readonly #options: ExporterOptions;
  readonly #pending: Pending[] = [];
  readonly #timer: NodeJS.Timeout;
  #sending: Promise<void> | undefined;
  #pausedUntil = 0;
  #pauseMs = 0;
  #dropped = 0;

  constructor(options: ExporterOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.#flush(), options.flushMs ?? 1_000);
    this.#timer.unref();
  }

  /** A sink for the spans of one resource. */
  sink(resource: Resource): SpanSink {
    return (span) => {
      if (this.#isPaused() || this.#pending.length >= pendingMax) {
        this.#dropped += 1;
        return;
      }
      this.#pending.push({ resource, span });
      if (this.#pending.length === batchMax) void this.#flush();
    };
  }

  /** How many spans the receiver never took. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Ends a pause at once, for who knows that the receiver listens again. */
  resume(): void {
    this.#pauseMs = 0;
    this.#pausedUntil = 0;
  }

  /** Sends what is pending, for five seconds at most; what then is left is dropped. */
  async flush(): Promise<void> {
    const deadline = Date.now() + timeoutMs;
    await this.#sending;
    while (this.#pending.length > 0 && Date.now() < deadline) await this.#flush();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.flush();
    this.#pending.length = 0;
  }

  #isPaused(): boolean {
    return this.#pausedUntil !== 0 && Date.now() < this.#pausedUntil;
  }

  /** Sends a batch, one at a time; what arrives meanwhile waits, or is dropped beyond the bound. */
  #flush(): Promise<void> {
    if (this.#pending.length > 0) this.#sending ??= this.#send(this.#pending.splice(0, batchMax));
    return this.#sending ?? Promise.resolve();
  }

  async #send(batch: readonly Pending[]): Promise<void> {
    const isTaken = await this.#post(encodeOtlp(batch)).catch(() => false);
    if (!isTaken) this.#dropped += batch.length + this.#pending.splice(0).length;
    this.#pauseMs = isTaken ? 0 : Math.min(pauseMsMax, Math.max(1_000, this.#pauseMs * 2));
    this.#pausedUntil = isTaken ? 0 : Date.now() + this.#pauseMs;
    this.#sending = undefined;
  }

  async #post(body: string): Promise<boolean> {
    const token = await this.#options.token?.();
    const answer = await request(`${this.#options.url}/v1/traces`, {
      method: 'POST',
      body,
      headers: {
        'content-type': 'application/json',
        ...(token ? { authorization: `Bearer ${token}` } : {}),
      },
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
    });
    await answer.body.dump();
    return answer.statusCode === 200;
  }
}

/** Spans as the JSON of OTLP's `ExportTraceServiceRequest` (opentelemetry-proto 1.x, JSON mapping). */
export function encodeOtlp(batch: readonly Pending[]): string {
  const byResource = new Map<Resource, SpanRecord[]>();
  for (const { resource, span } of batch) {
    const spans = byResource.get(resource);
    if (spans) spans.push(span);
    else byResource.set(resource, [span]);
  }
  const resourceSpans = [...byResource].map(([resource, spans]) => ({
    resource: { attributes: encodeAttributes(resource) },
    scopeSpans: [{ scope: { name: 'ennead' }, spans: spans.map(encodeSpan) }],
  }));
  return JSON.stringify({ resourceSpans });
}

function encodeSpan(span: SpanRecord) {
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    parentSpanId: span.parentSpanId,
    name: span.name,
    kind: span.kind + 1,
    startTimeUnixNano: toNanoText(span.startMs),
    endTimeUnixNano: toNanoText(span.endMs),
    attributes: encodeAttributes(span.attributes),
    events: span.events.map((event) => ({
      name: event.name,
      timeUnixNano: toNanoText(event.timeMs),
      attributes: encodeAttributes(event.attributes),
    })),
    status: { code: span.status.code, message: span.status.message },
  };
}

/** Milliseconds as nanoseconds in text: they exceed what a number holds exactly. */
function toNanoText(ms: number): string {
  const whole = Math.floor(ms);
  const nanos = Math.floor((ms - whole) * 1e6);
  return `${whole}${String(nanos).padStart(6, '0')}`;
}

function encodeAttributes(attributes: Attributes) {
  const encoded = [];
  for (const key in attributes) {
    const value = attributes[key];
    if (value !== undefined && value !== null) encoded.push({ key, value: encodeValue(value) });
  }
  return encoded;
}

function encodeValue(value: unknown): unknown {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number') {
    return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  }
  const items: readonly unknown[] = Array.isArray(value) ? value : [];
  const values = items.filter((item) => item !== undefined && item !== null);
  return { arrayValue: { values: values.map(encodeValue) } };
}
