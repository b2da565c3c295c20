import type { ExportAttribute } from '../otlp/export-model.ts';
import type { StoredTrace, View } from '../reading/view.ts';
import type { AttributeMap, AttributeValue, Span } from '../trace/span.ts';
import { jaegerView, madeTags } from './jaeger-view.ts';
import { sentSpans } from './sent-span.ts';

/** What one span of a trace must be, all of it. Times are microseconds; bounds are included. */
export interface SpanCriteria {
  readonly service?: string | undefined;
  readonly operation?: string | undefined;
  readonly fromUs: number;
  readonly toUs: number;
  readonly durationUsMin?: number | undefined;
  readonly durationUsMax?: number | undefined;
  /**
   * As texts. Each may be met by an attribute of the span, of one of its events or links, or of its
   * resource or scope, or by a tag that Jaeger makes of the span's other fields (`span.kind`, `error`, …).
   */
  readonly tags: Readonly<Record<string, string>>;
}

/** Jaeger's JSON of a trace with a span that meets the criteria; null of any other. */
export const jaegerMatchView = ((trace, criteria) =>
  hasMatch(trace, criteria) ? jaegerView(trace) : null) satisfies View<SpanCriteria>;

type Tags = readonly (readonly [key: string, text: string])[];

function hasMatch(trace: StoredTrace, criteria: SpanCriteria): boolean {
  const tags = Object.entries(criteria.tags);
  const left = trace.spans
    .filter((span) => isInRange(span, criteria))
    .map((span) => ({ span, unmet: unmetTags(span, tags) }));
  if (left.some(({ unmet }) => unmet.length === 0)) return true;
  // Few traces have attributes of scopes, so they are decoded only for those that nothing else found.
  if (left.length === 0) return false;
  const scopes = scopeAttributes(trace);
  return left.some(({ span, unmet }) => {
    const place = scopes.get(span.spanId) ?? {};
    return unmet.every(([key, text]) => holds(place, key, text));
  });
}

function isInRange(span: Span, criteria: SpanCriteria): boolean {
  const { service, operation, fromUs, toUs } = criteria;
  if (service !== undefined && span.service !== service) return false;
  if (operation !== undefined && span.name !== operation) return false;
  return span.startUs >= fromUs && span.startUs <= toUs && isAsLong(span, criteria);
}

function isAsLong(
  { startUs, endUs }: Span,
  { durationUsMin = 0, durationUsMax = Number.MAX_SAFE_INTEGER }: SpanCriteria,
): boolean {
  const durationUs = endUs - startUs;
  return durationUs >= durationUsMin && durationUs <= durationUsMax;
}

function unmetTags(span: Span, tags: Tags): Tags {
  if (tags.length === 0) return tags;
  const made = new Map(
    madeTags({ ...span, head: span }).map(({ key, value }) => [key, String(value)]),
  );
  const places = placesOf(span);
  const isMet = (key: string, text: string) =>
    made.get(key) === text || places.some((place) => holds(place, key, text));
  return tags.filter(([key, text]) => !isMet(key, text));
}

function placesOf({ attributes, resource, events, links }: Span): AttributeMap[] {
  return [
    attributes,
    resource,
    ...events.flatMap(({ name, attributes: fields }) => [{ event: name }, fields]),
    ...links.map((link) => link.attributes),
  ];
}

/** What the scope of each span says besides its name, as texts. */
function scopeAttributes(trace: StoredTrace): ReadonlyMap<string, AttributeMap> {
  const texts = sentSpans(trace).map(({ head, scope: { attributes = [] } }) => {
    return [head.spanId, Object.fromEntries(attributes.map(toText))] as const;
  });
  return new Map(texts);
}

/** Bytes as base64, as they are elsewhere; lists and maps of scopes match nothing. */
function toText([key, value]: ExportAttribute): [string, string | null] {
  if (value instanceof Uint8Array) return [key, Buffer.from(value).toString('base64')];
  return [key, typeof value === 'object' ? null : String(value)];
}

function holds(place: AttributeMap, key: string, text: string): boolean {
  return Object.hasOwn(place, key) && textOf(place[key] ?? null) === text;
}

function textOf(value: AttributeValue): string {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? '');
}
