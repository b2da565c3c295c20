import { ExportDecoder } from '../otlp/decode-export.ts';
import type { GroupPlace } from '../otlp/export-walk.ts';
import type { ExportAttributes, ScopeInput, SpanInput } from '../otlp/export-model.ts';
import { locateSpans } from '../otlp/locate.ts';
import type { StoredTrace } from '../reading/view.ts';
import type { SpanHead } from '../trace/span.ts';

/** A span as it was sent, with the types that its attributes had. */
export interface SentSpan {
  readonly head: SpanHead;
  readonly span: SpanInput;
  /** One object for all spans that were sent together. */
  readonly resource: ExportAttributes;
  readonly scope: ScopeInput;
}

/** The spans of a trace, by start. */
export function sentSpans({
  bodies,
  traceId,
}: Pick<StoredTrace, 'bodies' | 'traceId'>): SentSpan[] {
  const decoder = new ExportDecoder();
  const resources = new Map<GroupPlace, ExportAttributes>();
  const spans = locateSpans(bodies, traceId, {}).map(({ head, body, place }) => {
    decoder.open(body);
    const known = resources.get(place.resource);
    const resource = known ?? decoder.resource(place.resource.parts)?.attributes ?? [];
    resources.set(place.resource, resource);
    const scope = decoder.scope(place.scope.parts) ?? {};
    return { head, span: decoder.span(place), resource, scope };
  });
  return spans.toSorted((one, other) => one.head.startUs - other.head.startUs);
}
