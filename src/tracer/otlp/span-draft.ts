import { spanKinds } from '../trace/span.ts';
import type { AttributeReader } from './attribute.ts';
import { Facts, slots, spanKeys } from './facts.ts';
import { KeyTable } from './key-table.ts';
import type { HeadWithoutIds, IdPlaces } from './hex-ids.ts';
import type { Wire } from './wire.ts';

const nameLimit = 4_096;
const countLimit = 1_000;

const exceptionName = Buffer.from('exception');
const eventKeys = new KeyTable([['exception.type', { slot: slots.error, rank: 0 }]]);

/** What the spans of a resource have in common. */
export interface ResourceFacts {
  readonly service: string;
  readonly host: string | undefined;
  readonly agent: string | undefined;
}

/** Reads one span after another, keeping of each what its head is made of. */
export class SpanDraft implements IdPlaces {
  readonly #wire: Wire;
  readonly #attributes: AttributeReader;
  readonly #facts: Facts;
  readonly #eventFacts: Facts;
  traceAt = -1;
  spanAt = -1;
  /** Below 0 where it has no parent other than itself. */
  parentAt = -1;
  #traceLength = 0;
  #spanLength = 0;
  #parentLength = 0;
  #nameAt = 0;
  #nameEnd = 0;
  #kind = 0;
  #startUs = 0;
  #endUs = 0;
  #statusCode = 0;
  #messageAt = 0;
  #messageEnd = 0;
  #exception: string | undefined;
  #attributeCount = 0;
  #eventCount = 0;
  #linkCount = 0;
  #isTooDeep = false;

  constructor(wire: Wire, attributes: AttributeReader) {
    this.#wire = wire;
    this.#attributes = attributes;
    this.#facts = new Facts(attributes);
    this.#eventFacts = new Facts(attributes);
  }

  /** Reads the span that begins at the wire's place; a Fault where it is malformed. */
  read(end: number): void {
    const wire = this.#wire;
    this.#clear();
    while (wire.at < end) this.#field(wire.tag(), end);
    wire.close(end);
    if (!this.#hasParent()) this.parentAt = -1;
  }

  #clear(): void {
    this.#facts.clear();
    this.traceAt = this.spanAt = this.parentAt = -1;
    this.#traceLength = this.#spanLength = this.#parentLength = 0;
    this.#nameAt = this.#nameEnd = this.#kind = 0;
    this.#startUs = this.#endUs = this.#statusCode = 0;
    this.#messageAt = this.#messageEnd = 0;
    this.#exception = undefined;
    this.#attributeCount = this.#eventCount = this.#linkCount = 0;
    this.#isTooDeep = false;
  }

  #field(tag: number, end: number): void {
    const wire = this.#wire;
    switch (tag) {
      case 74:
        this.#attributeCount += 1;
        if (!this.#attributes.read(wire.length(end), spanKeys, this.#facts)) this.#isTooDeep = true;
        return;
      case 10:
      case 18:
      case 34:
        this.#id(tag, wire.length(end));
        return;
      case 42:
        this.#nameEnd = wire.length(end);
        this.#nameAt = wire.at;
        wire.at = this.#nameEnd;
        return;
      case 48:
        this.#kind = wire.varint();
        return;
      case 57:
        this.#startUs = wire.microseconds();
        return;
      case 65:
        this.#endUs = wire.microseconds();
        return;
      default:
        this.#rareField(tag, end);
    }
  }

  #id(tag: number, end: number): void {
    const { at } = this.#wire;
    const length = end - at;
    if (tag === 10) {
      this.traceAt = at;
      this.#traceLength = length;
    } else if (tag === 18) {
      this.spanAt = at;
      this.#spanLength = length;
    } else {
      this.parentAt = at;
      this.#parentLength = length;
    }
    this.#wire.at = end;
  }

  #rareField(tag: number, end: number): void {
    const wire = this.#wire;
    if (tag === 122) this.#status(wire.length(end));
    else if (tag === 90) this.#event(wire.length(end));
    else if (tag === 106) this.#link(wire.length(end));
    else if (tag === 26) wire.at = wire.length(end);
    else if (tag === 80 || tag === 96 || tag === 112) wire.varint();
    else if (tag === 133) wire.at += 4;
    else wire.skip(tag, end, 16);
  }

  /** Its field 1 is a code of old, which counts no more. */
  #status(end: number): void {
    const wire = this.#wire;
    while (wire.at < end) {
      const tag = wire.tag();
      if (tag === 24) this.#statusCode = wire.varint();
      else if (tag === 18) {
        this.#messageEnd = wire.length(end);
        this.#messageAt = wire.at;
        wire.at = this.#messageEnd;
      } else if (tag === 8) wire.varint();
      else wire.skip(tag, end, 3);
    }
    wire.close(end);
  }

  #event(end: number): void {
    const wire = this.#wire;
    this.#eventCount += 1;
    this.#eventFacts.clear();
    let isException = false;
    while (wire.at < end) {
      const tag = wire.tag();
      if (tag === 9) wire.at += 8;
      else if (tag === 32) wire.varint();
      else if (tag === 18) {
        const nameEnd = wire.length(end);
        isException = wire.isAt(exceptionName, nameEnd);
        wire.at = nameEnd;
      } else if (tag === 26) {
        const attributeEnd = wire.length(end);
        if (!this.#attributes.read(attributeEnd, eventKeys, this.#eventFacts))
          this.#isTooDeep = true;
      } else wire.skip(tag, end, 4);
    }
    wire.close(end);
    if (isException) this.#exception = this.#eventFacts.text(slots.error);
  }

  #link(end: number): void {
    const wire = this.#wire;
    this.#linkCount += 1;
    while (wire.at < end) {
      const tag = wire.tag();
      if (tag === 10 || tag === 18 || tag === 26) wire.at = wire.length(end);
      else if (tag === 40) wire.varint();
      else if (tag === 53) wire.at += 4;
      else if (tag === 34) {
        const attributeEnd = wire.length(end);
        this.#eventFacts.clear();
        if (!this.#attributes.read(attributeEnd, eventKeys, this.#eventFacts))
          this.#isTooDeep = true;
      } else wire.skip(tag, end, 6);
    }
    wire.close(end);
  }

  /**
   * Why the span that was read is not taken, in words safe for its sender; undefined when it is.
   */
  rejection(latestUs: number): string | undefined {
    return this.#wrongId() ?? this.#wrongTime(latestUs) ?? this.#excess();
  }

  #wrongId(): string | undefined {
    if (this.#traceLength !== 16 || this.#isZero(this.traceAt, 16))
      return 'its trace id is not 16 bytes or is all zero';
    if (this.#spanLength !== 8 || this.#isZero(this.spanAt, 8))
      return 'its span id is not 8 bytes or is all zero';
    if (this.#parentLength !== 0 && this.#parentLength !== 8)
      return 'the id of its parent is not 8 bytes';
    return undefined;
  }

  #wrongTime(latestUs: number): string | undefined {
    if (this.#startUs === 0) return 'it has no start time';
    if (this.#startUs > latestUs || this.#endUs > latestUs)
      return 'it lies more than a day in the future';
    return undefined;
  }

  #excess(): string | undefined {
    if (this.#nameEnd - this.#nameAt > nameLimit) return 'its name is longer than 4 KiB';
    if (this.#attributeCount > countLimit) return 'it has more than 1,000 attributes';
    if (this.#eventCount > countLimit) return 'it has more than 1,000 events';
    if (this.#linkCount > countLimit) return 'it has more than 1,000 links';
    return this.#isTooDeep ? 'an attribute of it is nested deeper than 32 levels' : undefined;
  }

  #hasParent(): boolean {
    if (this.#parentLength !== 8 || this.#isZero(this.parentAt, 8)) return false;
    const { bytes } = this.#wire;
    for (let at = 0; at < 8; at += 1)
      if (bytes[this.parentAt + at] !== bytes[this.spanAt + at]) return true;
    return false;
  }

  #isZero(from: number, count: number): boolean {
    const { bytes } = this.#wire;
    for (let at = from; at < from + count; at += 1) if (bytes[at] !== 0) return false;
    return true;
  }

  /** The head of the span that was read, its ids still empty. */
  head(resource: ResourceFacts): HeadWithoutIds {
    const facts = this.#facts;
    const isCall = this.#kind === spanKinds.client || this.#kind === spanKinds.producer;
    return {
      traceId: '',
      spanId: '',
      parentSpanId: undefined,
      service: resource.service,
      name: this.#attributes.cutText(this.#nameAt, this.#nameEnd, nameLimit),
      kind: this.#kind > 5 ? spanKinds.unspecified : this.#kind,
      startUs: this.#startUs,
      endUs: Math.max(this.#startUs, this.#endUs),
      isError: this.#statusCode === 2,
      statusMessage: this.#statusMessage(),
      agent: facts.text(slots.agent) ?? resource.agent ?? resource.service,
      host: resource.host,
      errorCode: facts.text(slots.error) ?? this.#exception,
      callee: isCall ? facts.callee() : undefined,
      genAi: facts.genAi(),
    };
  }

  #statusMessage(): string | undefined {
    if (this.#messageEnd === this.#messageAt) return undefined;
    return this.#attributes.cutText(this.#messageAt, this.#messageEnd, nameLimit);
  }
}
