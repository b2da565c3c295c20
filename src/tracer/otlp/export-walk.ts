import type { SpanHead } from '../trace/span.ts';
import { AttributeReader } from './attribute.ts';
import { Facts, resourceKeys, slots } from './facts.ts';
import { HexIds, type HeadWithoutIds } from './hex-ids.ts';
import { Interner } from './interner.ts';
import { SpanDraft, type ResourceFacts } from './span-draft.ts';
import { Wire } from './wire.ts';

const spanLimit = 1_048_576;
const aDayUs = 86_400_000_000;

/** A stretch of a body. */
export interface Range {
  readonly from: number;
  readonly end: number;
}

/** Where a resource or scope stands with what it says: the parts add up, as protobuf's do. */
export interface GroupPlace {
  readonly parts: Range[];
  /** Undefined where it has none. */
  schemaUrl: Range | undefined;
}

/** Where a span stands that was taken, and what it belongs to. */
export interface SpanPlace extends Range {
  readonly scope: GroupPlace;
  readonly resource: GroupPlace;
}

export interface WalkOptions {
  /** Milliseconds since the epoch; a span of more than a day later is rejected. */
  readonly now: number;
  /** The 16 bytes of the only trace that is wanted. */
  readonly traceId?: Buffer | undefined;
  /** Gets the place of every span taken, in the order of the heads. */
  readonly places?: SpanPlace[] | undefined;
}

/** What was taken of a body and what was not. */
export interface Walked {
  /** In the body's order. */
  readonly heads: readonly SpanHead[];
  readonly rejectedCount: number;
  /** Why the first of the rejected was, as a sentence safe for the sender. */
  readonly rejection: string | undefined;
}

/**
 * Goes through exports in protobuf and takes the heads of their spans. This is the one place that
 * decides which spans are taken and what their heads say; it serves intake and reading alike.
 */
export class ExportWalk {
  readonly #wire = new Wire();
  readonly #attributes = new AttributeReader(this.#wire, new Interner());
  readonly #draft = new SpanDraft(this.#wire, this.#attributes);
  readonly #facts = new Facts(this.#attributes);
  readonly #scopeFacts = new Facts(this.#attributes);
  readonly #ids = new HexIds();
  #heads: HeadWithoutIds[] = [];
  #rejectedCount = 0;
  #rejection: string | undefined;
  #options: WalkOptions = { now: 0 };
  #latestUs = 0;
  /** Where the wanted trace's id stands next, as far as that was looked for. */
  #wantedAt = -1;
  #resource: ResourceFacts = { service: 'unknown', host: undefined, agent: undefined };
  #resourcePlace: GroupPlace = { parts: [], schemaUrl: undefined };
  #scopePlace: GroupPlace = { parts: [], schemaUrl: undefined };
  /** Why no span of this resource, or of this scope, is taken. */
  #resourceFlaw: string | undefined;
  #scopeFlaw: string | undefined;

  /**
   * Throws a Fault `malformed_protobuf` where `body` is no export, or several one after another.
   */
  walk(body: Uint8Array, options: WalkOptions): Walked {
    const wire = this.#wire;
    this.#begin(options);
    try {
      wire.open(body);
      const end = body.length;
      while (wire.at < end) {
        const tag = wire.tag();
        if (tag === 10) this.#resourceSpans(wire.length(end));
        else wire.skip(tag, end, 1);
      }
      wire.close(end);
      return this.#finish();
    } finally {
      this.#ids.clear();
      wire.release();
    }
  }

  #begin(options: WalkOptions): void {
    this.#heads = [];
    this.#rejectedCount = 0;
    this.#rejection = undefined;
    this.#options = options;
    this.#wantedAt = -1;
    this.#latestUs = Math.min(Number.MAX_SAFE_INTEGER, options.now * 1_000 + aDayUs);
  }

  #finish(): Walked {
    const heads = this.#heads;
    this.#ids.give(heads);
    this.#heads = [];
    return { heads, rejectedCount: this.#rejectedCount, rejection: this.#rejection };
  }

  #resourceSpans(end: number): void {
    const wire = this.#wire;
    const from = wire.at;
    const place = { parts: [], schemaUrl: undefined };
    this.#facts.clear();
    this.#resourceFlaw = undefined;
    this.#resourcePlace = place;
    while (wire.at < end) {
      const tag = wire.tag();
      if (tag === 10) this.#resourceFlaw = this.#resourceAt(wire.length(end)) ?? this.#resourceFlaw;
      else if (tag === 18) wire.at = wire.length(end);
      else if (tag === 26) this.#schemaUrl(wire.length(end), place);
      else wire.skip(tag, end, 3);
    }
    wire.close(end);
    this.#resource = {
      service: this.#facts.text(slots.service) ?? 'unknown',
      host: this.#facts.text(slots.host),
      agent: this.#facts.text(slots.agent),
    };
    wire.at = from;
    while (wire.at < end) {
      const tag = wire.tag();
      if (tag === 18) this.#scopeSpans(wire.length(end));
      else wire.stepOver(tag, end);
    }
  }

  /** Reads a Resource; a flaw of it is one of all its spans. */
  #resourceAt(end: number): string | undefined {
    const wire = this.#wire;
    const { parts } = this.#resourcePlace;
    parts.push({ from: wire.at, end });
    let isShallow = true;
    while (wire.at < end) {
      const tag = wire.tag();
      if (tag === 10)
        isShallow = this.#attributes.read(wire.length(end), resourceKeys, this.#facts) && isShallow;
      else if (tag === 16) wire.varint();
      else wire.skip(tag, end, 2);
    }
    wire.close(end);
    return flawOf('resource', parts, isShallow);
  }

  #scopeSpans(end: number): void {
    const wire = this.#wire;
    const from = wire.at;
    const place = { parts: [], schemaUrl: undefined };
    this.#scopeFlaw = this.#resourceFlaw;
    this.#scopePlace = place;
    while (wire.at < end) {
      const tag = wire.tag();
      if (tag === 10) this.#scopeFlaw = this.#scopeAt(wire.length(end)) ?? this.#scopeFlaw;
      else if (tag === 18) wire.at = wire.length(end);
      else if (tag === 26) this.#schemaUrl(wire.length(end), place);
      else wire.skip(tag, end, 3);
    }
    wire.close(end);
    wire.at = from;
    while (wire.at < end) {
      const tag = wire.tag();
      if (tag === 18) this.#span(wire.length(end));
      else wire.stepOver(tag, end);
    }
  }

  #scopeAt(end: number): string | undefined {
    const wire = this.#wire;
    const { parts } = this.#scopePlace;
    parts.push({ from: wire.at, end });
    let isShallow = true;
    this.#scopeFacts.clear();
    while (wire.at < end) {
      const tag = wire.tag();
      if (tag === 10 || tag === 18) wire.at = wire.length(end);
      else if (tag === 32) wire.varint();
      else if (tag === 26) {
        const attributeEnd = wire.length(end);
        isShallow =
          this.#attributes.read(attributeEnd, resourceKeys, this.#scopeFacts) && isShallow;
      } else wire.skip(tag, end, 4);
    }
    wire.close(end);
    return flawOf('scope', parts, isShallow);
  }

  #schemaUrl(end: number, place: GroupPlace): void {
    place.schemaUrl = { from: this.#wire.at, end };
    this.#wire.at = end;
  }

  #span(end: number): void {
    const wire = this.#wire;
    const from = wire.at;
    if (end - from > spanLimit) {
      this.#reject('it is larger than 1 MiB');
      wire.at = end;
    } else if (!this.#isWanted(end)) wire.at = end;
    else {
      this.#draft.read(end);
      const flaw = this.#scopeFlaw ?? this.#draft.rejection(this.#latestUs);
      if (flaw === undefined) this.#take(from, end);
      else this.#reject(flaw);
    }
  }

  #reject(flaw: string): void {
    this.#rejectedCount += 1;
    this.#rejection ??= `A span was rejected: ${flaw}.`;
  }

  #take(from: number, end: number): void {
    this.#ids.add(this.#wire.bytes, this.#draft);
    this.#heads.push(this.#draft.head(this.#resource));
    this.#options.places?.push({
      from,
      end,
      scope: this.#scopePlace,
      resource: this.#resourcePlace,
    });
  }

  /** Looks whether the span that begins here is of the wanted trace; stays where it is. */
  #isWanted(end: number): boolean {
    const { traceId } = this.#options;
    if (!traceId) return true;
    const wire = this.#wire;
    const from = wire.at;
    // Of most spans it is known without a look at their fields.
    if (this.#wantedAt < from) this.#wantedAt = placeOf(traceId, wire.bytes, from);
    if (this.#wantedAt >= end) return false;
    let isWanted = false;
    while (wire.at < end) {
      const tag = wire.tag();
      if (tag === 10) {
        const idEnd = wire.length(end);
        isWanted = wire.isAt(traceId, idEnd);
        wire.at = idEnd;
      } else wire.stepOver(tag, end);
    }
    wire.at = from;
    return isWanted;
  }
}

function placeOf(wanted: Buffer, bytes: Buffer, from: number): number {
  const at = bytes.indexOf(wanted, from);
  return at < 0 ? bytes.length : at;
}

function flawOf(
  group: 'resource' | 'scope',
  parts: readonly Range[],
  isShallow: boolean,
): string | undefined {
  if (!isShallow) return `an attribute of its ${group} is nested deeper than 32 levels`;
  let size = 0;
  for (const { from, end } of parts) size += end - from;
  return size > spanLimit ? `its ${group} is larger than 1 MiB` : undefined;
}
