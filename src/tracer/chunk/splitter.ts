import { Wire } from '../otlp/wire.ts';
import {
  ColumnWriter,
  distanceCode,
  groupTags,
  parentMarks,
  spanIdBytes,
  spanTags,
  takenBytes,
  traceIdBytes,
  traceMarks,
} from './columns.ts';

/** Differences of the upper halves of two times below it are exact: 26 days. */
const highReach = 2 ** 19;
const half = 2 ** 32;

const absent = -1;

/**
 * Takes the ids and times out of the spans of exports. A span that is not as exporters write it stays as it
 * is: a field comes twice, an id has another length, it has no end, its times are weeks apart.
 */
export class SpanSplitter {
  readonly columns = new ColumnWriter();
  readonly #wire = new Wire();
  readonly #span = new SpanFields(this.#wire);
  /** Start of the regular span before. */
  #high = 0;
  #low = 0;
  /** Where the parents of the regular spans stand, in their order; `absent` where they have none. */
  #parents: number[] = [];
  /** Numbers of traces and of regular spans by the beginning of their ids; of two alike one is found. */
  readonly #traceNumbers = new Map<number, number>();
  readonly #spanNumbers = new Map<number, number>();

  /** Fills the columns with a body, which must be an export and is used up; answers what is left of it. */
  split(body: Buffer): Buffer {
    this.#clear();
    const wire = this.#wire;
    wire.open(body);
    this.#eachField(body.length, groupTags.resourceSpans, (resourceEnd) =>
      this.#eachField(resourceEnd, groupTags.scopeSpans, (scopeEnd) =>
        this.#eachField(scopeEnd, groupTags.span, (end) => this.#takeSpan(end)),
      ),
    );
    this.#writeParents();
    wire.release();
    return this.#span.closeUp(body);
  }

  #clear(): void {
    this.columns.clear();
    this.#span.clear();
    this.#parents = [];
    this.#traceNumbers.clear();
    this.#spanNumbers.clear();
  }

  /** Goes into the fields of one kind up to `end` and steps over the others. */
  #eachField(end: number, wanted: number, enter: (end: number) => void): void {
    const wire = this.#wire;
    while (wire.at < end) {
      const found = wire.tag();
      if (found === wanted) enter(wire.length(end));
      else wire.stepOver(found, end);
    }
  }

  #takeSpan(end: number): void {
    const { traces } = this.columns;
    if (this.#span.find(end) && this.#takeTimes()) {
      traces.varint(traceMarks.first + this.#traceNumber());
      this.#noteSpan();
    } else {
      this.#span.putBack();
      traces.varint(traceMarks.untouched);
    }
  }

  /** Answers false, and writes nothing, where they are too far apart. */
  #takeTimes(): boolean {
    const { bytes } = this.#wire;
    const { start, end } = this.#span;
    const high = bytes.readUInt32LE(start + 4);
    const low = bytes.readUInt32LE(start);
    const later = this.#parents.length === 0 ? 0 : high - this.#high;
    const longer = bytes.readUInt32LE(end + 4) - high;
    if (Math.abs(longer) >= highReach || Math.abs(later) >= highReach) return false;
    const { times } = this.columns;
    if (this.#parents.length === 0) times.copy(bytes, start, start + takenBytes.time);
    else times.signed(later * half + low - this.#low);
    times.signed(longer * half + bytes.readUInt32LE(end) - low);
    this.#high = high;
    this.#low = low;
    return true;
  }

  #traceNumber(): number {
    const { bytes } = this.#wire;
    const { traceIds } = this.columns;
    const from = this.#span.traceId;
    const key = bytes.readInt32LE(from);
    const known = this.#traceNumbers.get(key);
    const id = { bytes, from, length: traceIdBytes };
    if (known !== undefined && traceIds.has(known * traceIdBytes, id)) return known;
    const number = traceIds.length / traceIdBytes;
    traceIds.copy(bytes, from, from + traceIdBytes);
    this.#traceNumbers.set(key, number);
    return number;
  }

  #noteSpan(): void {
    const { bytes } = this.#wire;
    const { spanId, parentSpanId } = this.#span;
    this.#spanNumbers.set(bytes.readInt32LE(spanId), this.#parents.length);
    this.columns.spanIds.copy(bytes, spanId, spanId + spanIdBytes);
    this.#parents.push(parentSpanId);
  }

  /** Parents mostly end after their children, so they are looked for when all spans are known. */
  #writeParents(): void {
    const { bytes } = this.#wire;
    const { parents, parentIds, spanIds } = this.columns;
    for (let number = 0; number < this.#parents.length; number += 1) {
      const from = this.#parents[number] ?? absent;
      const known = from === absent ? undefined : this.#spanNumbers.get(bytes.readInt32LE(from));
      const id = { bytes, from, length: spanIdBytes };
      if (from === absent) parents.varint(parentMarks.none);
      else if (known !== undefined && spanIds.has(known * spanIdBytes, id)) {
        parents.varint(parentMarks.first + distanceCode(known - number));
      } else {
        parents.varint(parentMarks.id);
        parentIds.copy(bytes, from, from + spanIdBytes);
      }
    }
  }
}

/** Where the fields of a span stand that are taken out, and what is left of all spans without them. */
class SpanFields {
  /** Where the values begin; `absent` where there is none. */
  traceId = absent;
  spanId = absent;
  parentSpanId = absent;
  start = absent;
  end = absent;
  readonly #wire: Wire;
  /** What is taken out of the body: where each piece begins and ends. */
  #cuts: number[] = [];
  #cutsBefore = 0;

  constructor(wire: Wire) {
    this.#wire = wire;
  }

  clear(): void {
    this.#cuts = [];
  }

  /** Finds those of the span that begins here; answers whether it has each as it should. */
  find(end: number): boolean {
    const wire = this.#wire;
    this.#cutsBefore = this.#cuts.length;
    this.traceId = absent;
    this.spanId = absent;
    this.parentSpanId = absent;
    this.start = absent;
    this.end = absent;
    let isRegular = true;
    while (wire.at < end) {
      const from = wire.at;
      const found = wire.tag();
      if (wire.at - from === 1 && !this.#note(found)) isRegular = false;
      wire.stepOver(found, end);
    }
    return isRegular && Math.min(this.traceId, this.spanId, this.start, this.end) !== absent;
  }

  /** The span that was looked at stays as it is. */
  putBack(): void {
    this.#cuts.length = this.#cutsBefore;
  }

  /** Closes the gaps that the cuts leave in a body. */
  closeUp(body: Buffer): Buffer {
    const cuts = this.#cuts;
    let to = cuts[0] ?? body.length;
    for (let at = 1; at < cuts.length; at += 2) {
      const from = cuts[at] ?? 0;
      const end = cuts[at + 1] ?? body.length;
      body.copyWithin(to, from, end);
      to += end - from;
    }
    return body.subarray(0, to);
  }

  /** Notes a field whose value begins here; answers false where it is not as it should be. */
  #note(found: number): boolean {
    switch (found) {
      case spanTags.traceId:
        this.traceId = this.#cutId(this.traceId, takenBytes.traceId);
        return this.traceId !== absent;
      case spanTags.spanId:
        this.spanId = this.#cutId(this.spanId, takenBytes.spanId);
        return this.spanId !== absent;
      case spanTags.parentSpanId:
        this.parentSpanId = this.#cutId(this.parentSpanId, takenBytes.parentSpanId);
        return this.parentSpanId !== absent;
      case spanTags.start:
        this.start = this.#cut(this.start, takenBytes.time);
        return this.start !== absent;
      case spanTags.end:
        this.end = this.#cut(this.end, takenBytes.time);
        return this.end !== absent;
      default:
        return true;
    }
  }

  /** Cuts out an id with the byte of its length; answers where the id begins. */
  #cutId(known: number, taken: number): number {
    const { bytes, at } = this.#wire;
    if (bytes[at] !== taken - 1) return absent;
    const from = this.#cut(known, taken);
    return from === absent ? absent : from + 1;
  }

  #cut(known: number, taken: number): number {
    const { at } = this.#wire;
    if (known !== absent) return absent;
    this.#cuts.push(at, at + taken);
    return at;
  }
}
