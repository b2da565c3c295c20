import { formatTraceparent } from '../../kit/trace-context.ts';
import { failSpan, SpanKind, type Span, type Tracer } from '../../kit/trace.ts';
import type { Trip } from '../measure/stations.ts';
import type { Target } from '../providers/provider.ts';
import type { Outgoing } from '../upstream/upstreams.ts';

/** Starts the span of one attempt at a provider (OpenTelemetry's conventions for generative AI). */
export function startAttemptSpan(
  tracer: Tracer,
  parent: Span,
  { provider, model, operation }: Target & { readonly operation: 'chat' | 'embeddings' },
): Span {
  return tracer.start(`${operation} ${model.name}`, {
    kind: SpanKind.CLIENT,
    parent: parent.spanContext(),
    attributes: {
      'gen_ai.operation.name': operation,
      'gen_ai.provider.name': provider.name,
      'gen_ai.request.model': model.name,
    },
  });
}

/** The suite's own runtime goes on with the trace; hosted providers are told nothing of it. */
export function withTrace(outgoing: Outgoing, span: Span): Outgoing {
  if (outgoing.target.provider.origin !== 'local') return outgoing;
  const traceparent = formatTraceparent(span.spanContext());
  return { ...outgoing, headers: { ...outgoing.headers, traceparent } };
}

/** An attempt that goes on: its measurement and its span. */
export interface Attempt {
  readonly target: Target;
  readonly trip: Trip;
  readonly signal: AbortSignal;
}

/** Runs one attempt within a span that ends with it. */
export async function withinSpan<T>(span: Span, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    failSpan(span, error);
    throw error;
  } finally {
    span.end();
  }
}
