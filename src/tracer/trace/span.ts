/** OTLP's `SpanKind` (opentelemetry-proto, trace.proto). */
export const spanKinds = {
  unspecified: 0,
  internal: 1,
  server: 2,
  client: 3,
  producer: 4,
  consumer: 5,
} as const;

/** What `gen_ai.*`, and its older and foreign spellings, say of one call of a model or a tool. */
export interface GenAiFacts {
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
  /** `chat`, `embeddings`, `execute_tool`, `invoke_agent`, … */
  readonly operation?: string | undefined;
  readonly tool?: string | undefined;
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  /** Of the input, read from the provider's cache. */
  readonly cachedInputTokens?: number | undefined;
  /** Of the input, written to the provider's cache. */
  readonly cacheWriteTokens?: number | undefined;
  /** US dollars, where the span itself says so. */
  readonly costUsd?: number | undefined;
}

/**
 * What intake keeps of a span while its trace is open, and what a trace is analysed by. Times are
 * whole microseconds since the epoch; `endUs` is never before `startUs`.
 */
export interface SpanHead {
  /** 32 lower-case hexadecimal digits. */
  readonly traceId: string;
  /** 16 lower-case hexadecimal digits. */
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  /** `service.name` of its resource, else `unknown`. */
  readonly service: string;
  readonly name: string;
  /** One of `spanKinds`. */
  readonly kind: number;
  readonly startUs: number;
  readonly endUs: number;
  /** The span's status is ERROR. */
  readonly isError: boolean;
  readonly statusMessage: string | undefined;
  /** `agent.id`, else `gen_ai.agent.name`, else the service; the span's own before its resource's. */
  readonly agent: string;
  /** Which clock it was measured by: `service.instance.id`, else `host.name`; undefined is unknown. */
  readonly host: string | undefined;
  /** `error.type`, else `error.code`, else `exception.type` of its last exception event. */
  readonly errorCode: string | undefined;
  /** Of a call that leaves the service: what it went to, and of which sort. */
  readonly callee: Callee | undefined;
  readonly genAi: GenAiFacts | undefined;
}

/**
 * What a client or producer span calls, by its attributes: `gen_ai.provider.name` (model),
 * `db.system.name` (database), `messaging.system` (queue), `peer.service` or `server.address` (external).
 */
export interface Callee {
  readonly type: 'model' | 'database' | 'queue' | 'external';
  readonly name: string;
}

/** A value of an attribute; an int64 beyond 2^53 and bytes (base64) are texts. */
export type AttributeValue =
  | string
  | number
  | boolean
  | null
  | readonly AttributeValue[]
  | { readonly [key: string]: AttributeValue };

export type AttributeMap = Readonly<Record<string, AttributeValue>>;

export interface SpanEvent {
  readonly name: string;
  readonly timeUs: number;
  readonly attributes: AttributeMap;
}

export interface SpanLink {
  readonly traceId: string;
  readonly spanId: string;
  readonly attributes: AttributeMap;
}

/** A span with everything that was sent of it. */
export interface Span extends SpanHead {
  readonly attributes: AttributeMap;
  readonly events: readonly SpanEvent[];
  readonly links: readonly SpanLink[];
  readonly resource: AttributeMap;
  readonly scope: { readonly name: string; readonly version: string };
  readonly traceState: string;
}

/** Whether a span sent twice is better taken as it came last: not if it ended earlier. */
export function supersedes(again: SpanHead, known: SpanHead): boolean {
  return again.endUs >= known.endUs;
}
