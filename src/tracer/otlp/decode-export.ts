import type {
  EventInput,
  ExportAttribute,
  ExportValue,
  LinkInput,
  ResourceInput,
  ScopeInput,
  SpanInput,
  StatusInput,
} from './export-model.ts';
import type { Range } from './export-walk.ts';
import { Wire } from './wire.ts';

type Writable<Type> = { -readonly [Field in keyof Type]: Type[Field] };

/**
 * Decodes parts of a body that the scanner has checked, losing nothing but the fields it does not
 * know.
 */
export class ExportDecoder {
  readonly #wire = new Wire();

  /** Takes the body in which the places lie that are asked for next. */
  open(body: Uint8Array): void {
    this.#wire.open(body);
  }

  textAt(place: Range): string {
    this.#wire.at = place.from;
    return this.#wire.text(place.end);
  }

  /** Undefined where there is none. */
  resource(parts: readonly Range[]): ResourceInput | undefined {
    if (parts.length === 0) return undefined;
    const attributes: ExportAttribute[] = [];
    const resource: Writable<ResourceInput> = { attributes };
    for (const part of parts)
      this.#fields(part, (tag, end) => {
        if (tag === 10) attributes.push(this.#pair(end));
        else if (tag === 16) resource.droppedAttributesCount = this.#wire.varint();
        else return false;
        return true;
      });
    return resource;
  }

  /** Undefined where there is none. */
  scope(parts: readonly Range[]): ScopeInput | undefined {
    if (parts.length === 0) return undefined;
    const attributes: ExportAttribute[] = [];
    const scope: Writable<ScopeInput> = { attributes };
    for (const part of parts)
      this.#fields(part, (tag, end) => {
        if (tag === 10) scope.name = this.#text(end);
        else if (tag === 18) scope.version = this.#text(end);
        else if (tag === 26) attributes.push(this.#pair(end));
        else if (tag === 32) scope.droppedAttributesCount = this.#wire.varint();
        else return false;
        return true;
      });
    return scope;
  }

  span(place: Range): SpanInput {
    const attributes: ExportAttribute[] = [];
    const events: EventInput[] = [];
    const links: LinkInput[] = [];
    const span: Writable<SpanInput> = {
      traceId: '',
      spanId: '',
      name: '',
      startNs: 0n,
      endNs: 0n,
      attributes,
      events,
      links,
    };
    this.#fields(place, (tag, end) => {
      if (tag === 74) attributes.push(this.#pair(end));
      else if (tag === 90) events.push(this.#event(end));
      else if (tag === 106) links.push(this.#link(end));
      else return this.#spanIds(span, tag, end) || this.#spanFacts(span, tag, end);
      return true;
    });
    return span;
  }

  #spanIds(span: Writable<SpanInput>, tag: number, end: number): boolean {
    if (tag === 10) span.traceId = this.#hex(end);
    else if (tag === 18) span.spanId = this.#hex(end);
    else if (tag === 34) span.parentSpanId = this.#hex(end);
    else if (tag === 26) span.traceState = this.#text(end);
    else if (tag === 42) span.name = this.#text(end);
    else return false;
    return true;
  }

  #spanFacts(span: Writable<SpanInput>, tag: number, end: number): boolean {
    const wire = this.#wire;
    if (tag === 48) span.kind = wire.varint();
    else if (tag === 57) span.startNs = wire.fixed64();
    else if (tag === 65) span.endNs = wire.fixed64();
    else if (tag === 80) span.droppedAttributesCount = wire.varint();
    else if (tag === 96) span.droppedEventsCount = wire.varint();
    else if (tag === 112) span.droppedLinksCount = wire.varint();
    else if (tag === 122) span.status = this.#status({ ...span.status }, end);
    else if (tag === 133) span.flags = wire.fixed32();
    else return false;
    return true;
  }

  #status(status: Writable<StatusInput>, end: number): StatusInput {
    this.#message(end, (tag, messageEnd) => {
      if (tag === 18) status.message = this.#text(messageEnd);
      else if (tag === 24) status.code = this.#wire.varint();
      else return false;
      return true;
    });
    return status;
  }

  #event(end: number): EventInput {
    const attributes: ExportAttribute[] = [];
    const event: Writable<EventInput> = { timeNs: 0n, name: '', attributes };
    this.#message(end, (tag, eventEnd) => {
      if (tag === 9) event.timeNs = this.#wire.fixed64();
      else if (tag === 18) event.name = this.#text(eventEnd);
      else if (tag === 26) attributes.push(this.#pair(eventEnd));
      else if (tag === 32) event.droppedAttributesCount = this.#wire.varint();
      else return false;
      return true;
    });
    return event;
  }

  #link(end: number): LinkInput {
    const attributes: ExportAttribute[] = [];
    const link: Writable<LinkInput> = { traceId: '', spanId: '', attributes };
    this.#message(end, (tag, linkEnd) => {
      if (tag === 10) link.traceId = this.#hex(linkEnd);
      else if (tag === 18) link.spanId = this.#hex(linkEnd);
      else if (tag === 26) link.traceState = this.#text(linkEnd);
      else if (tag === 34) attributes.push(this.#pair(linkEnd));
      else if (tag === 40) link.droppedAttributesCount = this.#wire.varint();
      else if (tag === 53) link.flags = this.#wire.fixed32();
      else return false;
      return true;
    });
    return link;
  }

  #pair(end: number): ExportAttribute {
    let key = '';
    let value: ExportValue = null;
    this.#message(end, (tag, pairEnd) => {
      if (tag === 10) key = this.#text(pairEnd);
      else if (tag === 18) value = this.#value(pairEnd);
      else return false;
      return true;
    });
    return [key, value];
  }

  #value(end: number): ExportValue {
    const wire = this.#wire;
    let value: ExportValue = null;
    this.#message(end, (tag, valueEnd) => {
      if (tag === 10) value = this.#text(valueEnd);
      else if (tag === 16) value = wire.varint() !== 0;
      else if (tag === 24) value = wire.int64();
      else if (tag === 33) value = wire.double();
      else if (tag === 42) value = this.#items(valueEnd, (item) => this.#value(item));
      else if (tag === 50) value = { pairs: this.#items(valueEnd, (item) => this.#pair(item)) };
      else if (tag === 58) value = wire.copy(wire.length(valueEnd));
      else return false;
      return true;
    });
    return value;
  }

  #items<Item>(end: number, read: (end: number) => Item): Item[] {
    const items: Item[] = [];
    this.#message(end, (tag, listEnd) => {
      if (tag !== 10) return false;
      items.push(read(listEnd));
      return true;
    });
    return items;
  }

  #text(end: number): string {
    return this.#wire.text(this.#wire.length(end));
  }

  #hex(end: number): string {
    return this.#wire.hex(this.#wire.length(end));
  }

  /** Goes through the message whose length comes next. */
  #message(end: number, take: (tag: number, end: number) => boolean): void {
    const messageEnd = this.#wire.length(end);
    this.#fields({ from: this.#wire.at, end: messageEnd }, take);
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
