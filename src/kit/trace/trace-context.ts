import { TraceFlags, type SpanContext } from '@opentelemetry/api';

const traceparentPattern = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/**
 * Reads a `traceparent` header (W3C Trace Context, section 3.2.2). Anything malformed, of the
 * forbidden version ff, or with an all-zero id counts as absent.
 */
export function parseTraceparent(header: string | undefined): SpanContext | undefined {
  if (!header) return undefined;
  const match = traceparentPattern.exec(header);
  if (!match) return undefined;
  const [, version, traceId = '', spanId = '', flags = '', rest] = match;
  if (version === 'ff' || (version === '00' && rest)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  const traceFlags = Number.parseInt(flags, 16) & TraceFlags.SAMPLED;
  return { traceId, spanId, traceFlags, isRemote: true };
}

/** The `traceparent` header that makes the next hop a child of this span. */
export function formatTraceparent(context: SpanContext): string {
  const flags = context.traceFlags & TraceFlags.SAMPLED ? '01' : '00';
  return `00-${context.traceId}-${context.spanId}-${flags}`;
}
