/**
 * A value of an attribute, by its JavaScript type: `bigint` is an int64, `number` a double,
 * `Uint8Array` bytes, `null` a value that was sent empty.
 */
export type ExportValue =
  | string
  | bigint
  | number
  | boolean
  | Uint8Array
  | null
  | readonly ExportValue[]
  | ExportMap;

/** A kvlist; the pairs keep their order and their repetitions. */
export interface ExportMap {
  readonly pairs: ExportAttributes;
}

/** Attributes as they travel: key and value, in order. */
export type ExportAttributes = readonly ExportAttribute[];

export type ExportAttribute = readonly [key: string, value: ExportValue];

/** One resource with everything it sends: OTLP's `ResourceSpans`. What is absent is not written. */
export interface ResourceSpansInput {
  readonly resource?: ResourceInput | undefined;
  readonly scopes: readonly ScopeSpansInput[];
  readonly schemaUrl?: string | undefined;
}

export interface ResourceInput {
  readonly attributes?: ExportAttributes | undefined;
  readonly droppedAttributesCount?: number | undefined;
}

/** What one instrumentation library sends of a resource: OTLP's `ScopeSpans`. */
export interface ScopeSpansInput {
  readonly scope?: ScopeInput | undefined;
  readonly spans: readonly SpanInput[];
  readonly schemaUrl?: string | undefined;
}

export interface ScopeInput {
  readonly name?: string | undefined;
  readonly version?: string | undefined;
  readonly attributes?: ExportAttributes | undefined;
  readonly droppedAttributesCount?: number | undefined;
}

/**
 * One span. Ids are hexadecimal (32 digits a trace's, 16 a span's), times nanoseconds since the
 * epoch.
 */
export interface SpanInput {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string | undefined;
  readonly traceState?: string | undefined;
  /** The low 8 bits are W3C's trace flags; 0x100 and 0x200 say whether the parent is remote. */
  readonly flags?: number | undefined;
  readonly name: string;
  /** One of `spanKinds`; unspecified where absent. */
  readonly kind?: number | undefined;
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly attributes?: ExportAttributes | undefined;
  readonly droppedAttributesCount?: number | undefined;
  readonly events?: readonly EventInput[] | undefined;
  readonly droppedEventsCount?: number | undefined;
  readonly links?: readonly LinkInput[] | undefined;
  readonly droppedLinksCount?: number | undefined;
  readonly status?: StatusInput | undefined;
}

export interface EventInput {
  readonly timeNs: bigint;
  readonly name: string;
  readonly attributes?: ExportAttributes | undefined;
  readonly droppedAttributesCount?: number | undefined;
}

export interface LinkInput {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceState?: string | undefined;
  readonly attributes?: ExportAttributes | undefined;
  readonly droppedAttributesCount?: number | undefined;
  readonly flags?: number | undefined;
}

export interface StatusInput {
  /** 0 unset, 1 ok, 2 error. */
  readonly code?: number | undefined;
  readonly message?: string | undefined;
}
