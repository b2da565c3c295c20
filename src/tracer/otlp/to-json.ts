import { ExportDecoder } from './decode-export.ts';
import type {
  EventInput,
  ExportAttributes,
  ExportValue,
  LinkInput,
  ResourceInput,
  ScopeInput,
  SpanInput,
  StatusInput,
} from './export-model.ts';
import type { GroupPlace } from './export-walk.ts';
import { locateSpans, type LocatedSpan, type ReadOptions } from './locate.ts';

type Json = Record<string, unknown>;

/** The scopes of one resource as JSON, and the spans of each by what it says of itself. */
interface Group {
  readonly scopeSpans: Json[];
  readonly scopes: Map<string, Json[]>;
}

/**
 * One trace as TracesData in OTLP/JSON: what was sent of its spans, of those that the scanner takes
 * and once each as `readSpans` does, grouped by resource and scope. Empty and zero fields are left
 * out.
 */
export function otlpJsonOf(
  bodies: readonly Uint8Array[],
  traceId: string,
  options: ReadOptions = {},
): { readonly resourceSpans: readonly object[] } {
  const grouping = new Grouping();
  for (const located of locateSpans(bodies, traceId, options)) grouping.add(located);
  return { resourceSpans: grouping.resourceSpans };
}

class Grouping {
  readonly resourceSpans: Json[] = [];
  readonly #decoder = new ExportDecoder();
  readonly #groups = new Map<string, Group>();
  /** The keys of groups by their places: the spans of one group share it. */
  readonly #keys = new Map<GroupPlace, string>();

  add({ body, place }: LocatedSpan): void {
    this.#decoder.open(body);
    const resource = this.#resource(body, place.resource);
    this.#spansOf(body, place.scope, resource).push(jsonOfSpan(this.#decoder.span(place)));
  }

  #resource(body: Uint8Array, place: GroupPlace): Group {
    const key = this.#keyOf(body, place);
    const known = this.#groups.get(key);
    if (known) return known;
    const scopeSpans: Json[] = [];
    const resource = this.#decoder.resource(place.parts);
    this.resourceSpans.push({
      ...(resource && { resource: jsonOfResource(resource) }),
      scopeSpans,
      ...this.#schemaUrl(place),
    });
    const group: Group = { scopeSpans, scopes: new Map() };
    this.#groups.set(key, group);
    return group;
  }

  #spansOf(body: Uint8Array, place: GroupPlace, { scopeSpans, scopes }: Group): Json[] {
    const key = this.#keyOf(body, place);
    const known = scopes.get(key);
    if (known) return known;
    const spans: Json[] = [];
    const scope = this.#decoder.scope(place.parts);
    scopeSpans.push({
      ...(scope && { scope: jsonOfScope(scope) }),
      spans,
      ...this.#schemaUrl(place),
    });
    scopes.set(key, spans);
    return spans;
  }

  #schemaUrl({ schemaUrl }: GroupPlace): Json {
    return filled({ schemaUrl: schemaUrl && this.#decoder.textAt(schemaUrl) });
  }

  #keyOf(body: Uint8Array, place: GroupPlace): string {
    const known = this.#keys.get(place);
    if (known !== undefined) return known;
    const bytesOf = ({ from, end }: { readonly from: number; readonly end: number }) =>
      Buffer.from(body.subarray(from, end)).toString('latin1');
    const key = JSON.stringify([
      place.parts.length > 0,
      place.parts.map(bytesOf).join(''),
      place.schemaUrl && bytesOf(place.schemaUrl),
    ]);
    this.#keys.set(place, key);
    return key;
  }
}

/** Without what is absent, empty or zero. */
function filled(fields: Json): Json {
  const kept = Object.entries(fields).filter(
    ([, value]) => value !== undefined && value !== '' && value !== 0 && !isEmptyList(value),
  );
  return Object.fromEntries(kept);
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

function jsonOfResource({ attributes, droppedAttributesCount }: ResourceInput): Json {
  return filled({ attributes: jsonOfPairs(attributes), droppedAttributesCount });
}

function jsonOfScope({ name, version, attributes, droppedAttributesCount }: ScopeInput): Json {
  return filled({ name, version, attributes: jsonOfPairs(attributes), droppedAttributesCount });
}

function jsonOfSpan(span: SpanInput): Json {
  return filled({
    traceId: span.traceId,
    spanId: span.spanId,
    traceState: span.traceState,
    parentSpanId: span.parentSpanId,
    flags: span.flags,
    name: span.name,
    kind: span.kind,
    startTimeUnixNano: span.startNs.toString(),
    endTimeUnixNano: span.endNs === 0n ? undefined : span.endNs.toString(),
    attributes: jsonOfPairs(span.attributes),
    droppedAttributesCount: span.droppedAttributesCount,
    events: span.events?.map(jsonOfEvent),
    droppedEventsCount: span.droppedEventsCount,
    links: span.links?.map(jsonOfLink),
    droppedLinksCount: span.droppedLinksCount,
    status: span.status && jsonOfStatus(span.status),
  });
}

function jsonOfEvent({ timeNs, name, attributes, droppedAttributesCount }: EventInput): Json {
  const timeUnixNano = timeNs === 0n ? undefined : timeNs.toString();
  return filled({
    timeUnixNano,
    name,
    attributes: jsonOfPairs(attributes),
    droppedAttributesCount,
  });
}

function jsonOfLink({ attributes, ...link }: LinkInput): Json {
  return filled({ ...link, attributes: jsonOfPairs(attributes) });
}

function jsonOfStatus({ code, message }: StatusInput): Json {
  return filled({ message, code });
}

function jsonOfPairs(pairs: ExportAttributes | undefined): Json[] {
  return (pairs ?? []).map(([key, value]) => ({ key, value: jsonOfValue(value) }));
}

function jsonOfValue(value: ExportValue): Json {
  if (value === null) return {};
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'bigint') return { intValue: value.toString() };
  if (typeof value === 'number')
    return { doubleValue: Number.isFinite(value) ? value : String(value) };
  if (value instanceof Uint8Array) return { bytesValue: Buffer.from(value).toString('base64') };
  if ('pairs' in value) return { kvlistValue: { values: jsonOfPairs(value.pairs) } };
  return { arrayValue: { values: value.map(jsonOfValue) } };
}
