import type { AttributeMap, AttributeValue, Span, SpanEvent, SpanLink } from '../trace/span.ts';
import type { GroupPlace, Range } from './export-walk.ts';
import { Interner } from './interner.ts';
import { locateSpans, type LocatedSpan, type ReadOptions } from './locate.ts';
import { PlainValues } from './plain-value.ts';
import { Wire } from './wire.ts';

/**
 * The spans of one trace, by start (the longer first), with everything that was sent of them. Takes
 * what the scanner takes, with the same heads, and never throws on a body that it scanned. A span
 * that was sent several times stands once: of those that end last the one that came last.
 */
export function readSpans(
  bodies: readonly Uint8Array[],
  traceId: string,
  options: ReadOptions = {},
): Span[] {
  const reader = new SpanReader();
  return locateSpans(bodies, traceId, options)
    .map((located) => reader.read(located))
    .toSorted((one, other) => one.startUs - other.startUs || other.endUs - one.endUs);
}

type Scope = Span['scope'];

/** What a span carries beyond its head. */
interface SpanBody {
  readonly attributes: Record<string, AttributeValue>;
  readonly events: SpanEvent[];
  readonly links: SpanLink[];
  traceState: string;
}

class SpanReader {
  readonly #wire = new Wire();
  readonly #values = new PlainValues(this.#wire, new Interner());
  readonly #resources = new Map<GroupPlace, AttributeMap>();
  readonly #scopes = new Map<GroupPlace, Scope>();

  /** Names every field: a spread of so many takes longer than the decoding. */
  read({ head, body, place }: LocatedSpan): Span {
    this.#wire.open(body);
    const { attributes, events, links, traceState } = this.#body(place);
    return {
      traceId: head.traceId,
      spanId: head.spanId,
      parentSpanId: head.parentSpanId,
      service: head.service,
      name: head.name,
      kind: head.kind,
      startUs: head.startUs,
      endUs: head.endUs,
      isError: head.isError,
      statusMessage: head.statusMessage,
      agent: head.agent,
      host: head.host,
      errorCode: head.errorCode,
      callee: head.callee,
      genAi: head.genAi,
      attributes,
      events,
      links,
      resource: this.#resource(place.resource),
      scope: this.#scope(place.scope),
      traceState,
    };
  }

  #resource(place: GroupPlace): AttributeMap {
    const known = this.#resources.get(place);
    if (known) return known;
    const map: Record<string, AttributeValue> = {};
    for (const part of place.parts)
      this.#fields(part, (tag, end) => {
        if (tag !== 10) return false;
        this.#values.addTo(map, this.#wire.length(end));
        return true;
      });
    this.#resources.set(place, map);
    return map;
  }

  #scope(place: GroupPlace): Scope {
    const known = this.#scopes.get(place);
    if (known) return known;
    const scope = { name: '', version: '' };
    for (const part of place.parts)
      this.#fields(part, (tag, end) => {
        if (tag === 10) scope.name = this.#text(end);
        else if (tag === 18) scope.version = this.#text(end);
        else return false;
        return true;
      });
    this.#scopes.set(place, scope);
    return scope;
  }

  #body(place: Range): SpanBody {
    const wire = this.#wire;
    const body: SpanBody = { attributes: {}, events: [], links: [], traceState: '' };
    this.#fields(place, (tag, end) => {
      if (tag === 74) this.#values.addTo(body.attributes, wire.length(end));
      else if (tag === 90) body.events.push(this.#event(wire.length(end)));
      else if (tag === 106) body.links.push(this.#link(wire.length(end)));
      else if (tag === 26) body.traceState = this.#text(end);
      else return false;
      return true;
    });
    return body;
  }

  #event(end: number): SpanEvent {
    const wire = this.#wire;
    const attributes: Record<string, AttributeValue> = {};
    let name = '';
    let timeUs = 0;
    this.#fields({ from: wire.at, end }, (tag) => {
      if (tag === 9) timeUs = wire.microseconds();
      else if (tag === 18) name = this.#text(end);
      else if (tag === 26) this.#values.addTo(attributes, wire.length(end));
      else return false;
      return true;
    });
    return { name, timeUs, attributes };
  }

  #link(end: number): SpanLink {
    const wire = this.#wire;
    const attributes: Record<string, AttributeValue> = {};
    let traceId = '';
    let spanId = '';
    this.#fields({ from: wire.at, end }, (tag) => {
      if (tag === 10) traceId = wire.hex(wire.length(end));
      else if (tag === 18) spanId = wire.hex(wire.length(end));
      else if (tag === 34) this.#values.addTo(attributes, wire.length(end));
      else return false;
      return true;
    });
    return { traceId, spanId, attributes };
  }

  #text(end: number): string {
    return this.#wire.text(this.#wire.length(end));
  }

  /** Goes through the fields of a message; those that `take` answers false to are stepped over. */
  #fields({ from, end }: Range, take: (tag: number, end: number) => boolean): void {
    const wire = this.#wire;
    wire.at = from;
    while (wire.at < end) {
      const tag = wire.tag();
      if (!take(tag, end)) wire.stepOver(tag, end);
    }
  }
}
