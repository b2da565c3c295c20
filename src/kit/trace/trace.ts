import {
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Attributes,
  type AttributeValue,
  type Exception,
  type Span,
  type SpanContext,
  type SpanStatus,
  type TimeInput,
} from '@opentelemetry/api';
import { HexPool } from '../ids.ts';

export { SpanKind, SpanStatusCode, type Attributes, type Span, type SpanContext };

export interface SpanOptions {
  readonly kind?: SpanKind;
  /** The span that caused this one, here or on another machine; absent starts a trace. */
  readonly parent?: SpanContext | undefined;
  /** False passes the span on but records it nowhere; a span that starts a trace is sampled else. */
  readonly isSampled?: boolean;
  /** The span's own from then on. */
  readonly attributes?: Attributes;
}

/** An ended span as the exporter takes it. Times are Unix milliseconds with fractions. */
export interface SpanRecord {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly kind: SpanKind;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Attributes;
  readonly events: readonly SpanEvent[];
  readonly status: SpanStatus;
}

export interface SpanEvent {
  readonly name: string;
  readonly timeMs: number;
  readonly attributes: Attributes;
}

/** Takes ended spans; must return at once and never throw. */
export type SpanSink = (span: SpanRecord) => void;

/**
 * Starts spans of one service. The spans are OpenTelemetry's `Span`; the recorder behind them only
 * collects, at about half a microsecond a span (`npm run bench -- foundation` has it beside the SDK).
 */
export class Tracer {
  readonly #sink: SpanSink;
  readonly #ids = new HexPool();

  constructor(sink: SpanSink) {
    this.#sink = sink;
  }

  /** Starts a span. A parent that was not sampled gives a span that is passed on but not recorded. */
  start(name: string, options: SpanOptions = {}): Span {
    const { parent, isSampled = true } = options;
    const context = this.#contextBelow(parent);
    if (!isSampled) context.traceFlags = TraceFlags.NONE;
    return new RecordedSpan(context, { name, options, sink: this.#sink });
  }

  /** A span that is recorded nowhere: for what is not worth one, but causes spans that may be. */
  pass(parent?: SpanContext): Span {
    return trace.wrapSpanContext(this.#contextBelow(parent));
  }

  /** Runs `work` inside a span that ends with it and carries its error. */
  async within<T>(
    name: string,
    options: SpanOptions,
    work: (span: Span) => Promise<T>,
  ): Promise<T> {
    const span = this.start(name, options);
    try {
      return await work(span);
    } catch (error) {
      failSpan(span, error);
      throw error;
    } finally {
      span.end();
    }
  }

  #contextBelow(parent: SpanContext | undefined): SpanContext {
    return {
      traceId: parent?.traceId ?? this.#ids.next(16),
      spanId: this.#ids.next(8),
      traceFlags: parent?.traceFlags ?? TraceFlags.SAMPLED,
    };
  }
}

/** Marks a span as failed by an error: status, `exception` event, `error.type`. */
export function failSpan(span: Span, error: unknown): void {
  const exception = error instanceof Error ? error : new Error(String(error));
  const { code } = exception as { code?: unknown };
  span.setAttribute('error.type', typeof code === 'string' ? code : exception.name);
  span.recordException(exception);
  span.setStatus({ code: SpanStatusCode.ERROR, message: exception.message });
}

/** Asking for it each time takes as long as asking what time it is. */
const { timeOrigin } = performance;

function nowMs(): number {
  return timeOrigin + performance.now();
}

function toMs(time: TimeInput | undefined): number {
  if (time === undefined) return nowMs();
  if (typeof time === 'number') return time < timeOrigin ? timeOrigin + time : time;
  if (time instanceof Date) return time.getTime();
  return time[0] * 1000 + time[1] / 1e6;
}

const noEvents: readonly SpanEvent[] = [];
const unset: SpanStatus = { code: SpanStatusCode.UNSET };

/** A span that becomes its own record when it ends: most of what a copy costs is its memory. */
class RecordedSpan implements Span, SpanRecord {
  readonly kind: SpanKind;
  readonly parentSpanId: string | undefined;
  readonly startMs = nowMs();
  endMs = 0;
  readonly attributes: Attributes;
  name: string;
  status = unset;
  readonly #context: SpanContext;
  readonly #sink: SpanSink;
  #events: SpanEvent[] | undefined;

  constructor(context: SpanContext, start: { name: string; options: SpanOptions; sink: SpanSink }) {
    const { kind = SpanKind.INTERNAL, parent, attributes = {} } = start.options;
    this.#context = context;
    this.#sink = start.sink;
    this.name = start.name;
    this.kind = kind;
    this.parentSpanId = parent?.spanId;
    this.attributes = attributes;
  }

  get traceId(): string {
    return this.#context.traceId;
  }

  get spanId(): string {
    return this.#context.spanId;
  }

  get events(): readonly SpanEvent[] {
    return this.#events ?? noEvents;
  }

  spanContext(): SpanContext {
    return this.#context;
  }

  setAttribute(key: string, value: AttributeValue): this {
    this.attributes[key] = value;
    return this;
  }

  setAttributes(attributes: Attributes): this {
    Object.assign(this.attributes, attributes);
    return this;
  }

  addEvent(name: string, attributesOrTime?: Attributes | TimeInput, time?: TimeInput): this {
    const event = isAttributes(attributesOrTime)
      ? { name, attributes: attributesOrTime, timeMs: toMs(time) }
      : { name, attributes: {}, timeMs: toMs(attributesOrTime) };
    this.#events ??= [];
    this.#events.push(event);
    return this;
  }

  addLink(): this {
    return this;
  }

  addLinks(): this {
    return this;
  }

  setStatus(status: SpanStatus): this {
    if (this.#isOpen) this.status = status;
    return this;
  }

  updateName(name: string): this {
    if (this.#isOpen) this.name = name;
    return this;
  }

  recordException(exception: Exception): void {
    const error = typeof exception === 'string' ? { name: 'Error', message: exception } : exception;
    this.addEvent('exception', {
      'exception.type': error.name ?? 'Error',
      'exception.message': error.message ?? '',
      ...('stack' in error && error.stack ? { 'exception.stacktrace': error.stack } : {}),
    });
  }

  isRecording(): boolean {
    return this.#isOpen && (this.#context.traceFlags & TraceFlags.SAMPLED) !== 0;
  }

  end(endTime?: TimeInput): void {
    if (!this.isRecording()) return;
    this.endMs = toMs(endTime);
    this.#sink(this);
  }

  get #isOpen(): boolean {
    return this.endMs === 0;
  }
}

function isAttributes(value: Attributes | TimeInput | undefined): value is Attributes {
  return typeof value === 'object' && !Array.isArray(value) && !(value instanceof Date);
}
