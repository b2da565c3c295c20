import type { Cancellation } from '../../../kit/cancellation.ts';
import { onBehalfOf } from '../../../kit/identity/asker.ts';
import { formatTraceparent } from '../../../kit/trace/trace-context.ts';
import { SpanKind, type Span, type Tracer } from '../../../kit/trace/trace.ts';
import type { Trip } from '../../measure/stations.ts';
import type { Payer } from '../../money/purse.ts';
import type { Target } from '../../providers/provider.ts';
import type { Outgoing } from '../../upstream/upstreams.ts';

/** What a provider is asked for, by OpenTelemetry's names. */
export type Operation = 'chat' | 'embeddings' | 'generate_content';

/** Starts the span of one attempt at a provider (OpenTelemetry's conventions for generative AI). */
export function startAttemptSpan(
  tracer: Tracer,
  parent: Span,
  { target, operation }: { readonly target: Target; readonly operation: Operation },
): Span {
  const { provider, model } = target;
  return tracer.start(`${operation} ${model.name}`, {
    kind: SpanKind.CLIENT,
    parent: parent.spanContext(),
    attributes: {
      'gen_ai.operation.name': operation,
      'gen_ai.provider.name': provider.name,
      'gen_ai.request.model': model.name,
      ...(operation === 'generate_content' && { 'gen_ai.output.type': 'image' }),
    },
  });
}

/**
 * The suite's own runtime goes on with the trace, and is fair between those who ask; hosted providers
 * are told nothing of either.
 */
export function withOrigin(
  outgoing: Outgoing,
  { span, payer }: { readonly span: Span; readonly payer: Payer },
): Outgoing {
  if (outgoing.target.provider.origin !== 'local') return outgoing;
  const traceparent = formatTraceparent(span.spanContext());
  const headers = { ...outgoing.headers, ...onBehalfOf(payer.subject), traceparent };
  return { ...outgoing, headers };
}

/** An attempt that goes on: its measurement and its span. */
export interface Attempt {
  readonly target: Target;
  readonly trip: Trip;
  readonly cancellation: Cancellation;
}
