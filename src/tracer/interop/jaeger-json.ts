/** Jaeger's JSON of a trace: what its query service answers and its UI saves and loads. */
export interface JaegerTrace {
  readonly traceID: string;
  readonly spans: readonly JaegerSpan[];
  readonly processes: Readonly<Record<string, JaegerProcess>>;
  readonly warnings: null;
}

/** Times are microseconds. */
export interface JaegerSpan {
  readonly traceID: string;
  readonly spanID: string;
  readonly flags: number;
  readonly operationName: string;
  readonly references: readonly JaegerReference[];
  readonly startTime: number;
  readonly duration: number;
  readonly tags: readonly JaegerTag[];
  readonly logs: readonly JaegerLog[];
  readonly processID: string;
  readonly warnings: readonly string[] | null;
}

export interface JaegerReference {
  readonly refType: 'CHILD_OF' | 'FOLLOWS_FROM';
  readonly traceID: string;
  readonly spanID: string;
}

export interface JaegerProcess {
  readonly serviceName: string;
  readonly tags: readonly JaegerTag[];
}

export interface JaegerLog {
  readonly timestamp: number;
  readonly fields: readonly JaegerTag[];
}

export interface JaegerTag {
  readonly key: string;
  readonly type: 'string' | 'bool' | 'int64' | 'float64' | 'binary';
  readonly value: string | number | boolean;
}

/**
 * Attributes that stand for what Jaeger's spans have and OTLP's do not: a span's warnings, named as
 * Jaeger itself names them, flags other than plain `sampled`, and the sort of a reference
 * (OpenTracing's semantic convention).
 */
export const jaegerAttributes = {
  warnings: '@jaeger@warnings',
  flags: 'jaeger.flags',
  referenceType: 'opentracing.ref_type',
} as const;
