import { asBuffer, ByteWriter } from '../bytes.ts';
import { Wire } from '../otlp/wire.ts';
import {
  distanceOf,
  groupTags,
  parentMarks,
  spanIdBytes,
  spanTags,
  takenBytes,
  traceIdBytes,
  traceMarks,
  type ColumnReader,
} from './columns.ts';

const half = 2 ** 32;
/** A length is written when what it counts is; padded, it is still a varint. */
const lengthBytes = 5;

/** Puts the ids and times back into the spans of a chunk. */
export class SpanJoiner {
  readonly #columns: ColumnReader;
  readonly #wire = new Wire();
  readonly #out = new ByteWriter();
  /** By its number, whether spans of a trace are wanted; undefined where all are. */
  readonly #isWanted: readonly boolean[] | undefined;
  /** Regular spans that were read. */
  #count = 0;
  /** Spans that were written. */
  #written = 0;
  /** When the last regular span started, in two halves, and how long it took. */
  #startHigh = 0;
  #startLow = 0;
  #tookNs = 0;

  /** Joins the spans of all traces, or only of those in `wanted`, named in hexadecimal. */
  constructor(columns: ColumnReader, wanted?: ReadonlySet<string>) {
    this.#columns = columns;
    this.#isWanted = wanted && traceIdsOf(columns).map((traceId) => wanted.has(traceId));
  }

  /** The export that was split to the columns and this; of spans not wanted those that were left as they came. */
  join(rest: Uint8Array): Uint8Array {
    const wire = this.#wire;
    wire.open(rest);
    while (wire.at < rest.length) this.#field(groupTags.resourceSpans, rest.length, 0);
    return this.#out.finish();
  }

  /**
   * Takes the next field of a group, which lies `depth` deep; answers how many bytes of the export it was.
   */
  #field(groupTag: number, end: number, depth: number): number {
    const wire = this.#wire;
    const from = wire.at;
    const found = wire.tag();
    if (found !== groupTag) {
      wire.stepOver(found, end);
      this.#out.copy(wire.bytes, from, wire.at);
      return wire.at - from;
    }
    const length = wire.varint();
    const taken = wire.at - from + length;
    if (depth === 2) this.#span(length);
    else this.#group(found, length, depth);
    return taken;
  }

  #group(tag: number, length: number, depth: number): void {
    const out = this.#out;
    const from = out.length;
    out.byte(tag);
    const lengthAt = out.leave(lengthBytes);
    const spansBefore = this.#written;
    const inner = depth === 0 ? groupTags.scopeSpans : groupTags.span;
    for (let left = length; left > 0;) {
      left -= this.#field(inner, this.#wire.bytes.length, depth + 1);
    }
    if (this.#isWanted && this.#written === spansBefore) out.cutTo(from);
    else out.fillVarint(lengthAt, out.length - lengthAt - lengthBytes);
  }

  #span(length: number): void {
    const wire = this.#wire;
    const mark = this.#columns.traces.varint();
    if (mark === traceMarks.untouched) {
      this.#writeSpan(length, () => this.#copy(wire.at + length));
      return;
    }
    const trace = mark - traceMarks.first;
    const parent = this.#readParent();
    this.#readTimes();
    const hasParent = parent !== undefined;
    const end = wire.at + length - regularBytes - (hasParent ? takenBytes.parentSpanId : 0);
    const ids = { trace, span: this.#count, parent };
    this.#count += 1;
    if (this.#isWanted && !this.#isWanted[trace]) wire.at = end;
    else this.#writeSpan(length, () => this.#joinSpan(ids, end));
  }

  #writeSpan(length: number, write: () => void): void {
    this.#out.byte(groupTags.span);
    this.#out.varint(length);
    write();
    this.#written += 1;
  }

  #copy(end: number): void {
    this.#out.copy(this.#wire.bytes, this.#wire.at, end);
    this.#wire.at = end;
  }

  #joinSpan({ trace, span, parent }: SpanIds, end: number): void {
    const wire = this.#wire;
    const { traceIds, spanIds } = this.#columns;
    while (wire.at < end) {
      const from = wire.at;
      const found = wire.tag();
      this.#out.copy(wire.bytes, from, wire.at);
      if (wire.at - from > 1) this.#copyValue(found, end);
      else if (found === spanTags.traceId)
        this.#writeId(traceIds, trace * traceIdBytes, traceIdBytes);
      else if (found === spanTags.spanId) this.#writeId(spanIds, span * spanIdBytes, spanIdBytes);
      else if (found === spanTags.parentSpanId && parent) this.#writeId(parent, 0, spanIdBytes);
      else if (found === spanTags.start) this.#writeTime(0);
      else if (found === spanTags.end) this.#writeTime(this.#tookNs);
      else this.#copyValue(found, end);
    }
  }

  #copyValue(tag: number, end: number): void {
    const wire = this.#wire;
    const from = wire.at;
    wire.stepOver(tag, end);
    this.#out.copy(wire.bytes, from, wire.at);
  }

  #writeId(ids: Buffer, from: number, length: number): void {
    this.#out.byte(length);
    this.#out.copy(ids, from, from + length);
  }

  /** The last start, or so long after it. */
  #writeTime(laterNs: number): void {
    const { high, low } = later(this.#startHigh, this.#startLow, laterNs);
    this.#out.fixed32(low);
    this.#out.fixed32(high);
  }

  #readParent(): Buffer | undefined {
    const { parents, parentIds, spanIds } = this.#columns;
    const mark = parents.varint();
    if (mark === parentMarks.none) return undefined;
    if (mark === parentMarks.id) return asBuffer(parentIds.take(spanIdBytes));
    const from = (this.#count + distanceOf(mark - parentMarks.first)) * spanIdBytes;
    return spanIds.subarray(from, from + spanIdBytes);
  }

  #readTimes(): void {
    const { times } = this.#columns;
    if (this.#count === 0) {
      const first = asBuffer(times.take(takenBytes.time));
      this.#startLow = first.readUInt32LE(0);
      this.#startHigh = first.readUInt32LE(4);
    } else {
      const { high, low } = later(this.#startHigh, this.#startLow, times.signed());
      this.#startHigh = high;
      this.#startLow = low;
    }
    this.#tookNs = times.signed();
  }
}

/** What every regular span has lost, but for its parent's id. */
const regularBytes = takenBytes.traceId + takenBytes.spanId + 2 * takenBytes.time;

/** Which of the columns' ids a span has; its parent's, where one was taken out. */
interface SpanIds {
  readonly trace: number;
  readonly span: number;
  readonly parent: Buffer | undefined;
}

/** A time in nanoseconds as two halves, so long after another one. */
function later(high: number, low: number, ns: number) {
  const sum = low + ns;
  const carried = Math.floor(sum / half);
  return { high: high + carried, low: sum - carried * half };
}

function traceIdsOf({ traceIds }: ColumnReader): string[] {
  const ids: string[] = [];
  for (let at = 0; at < traceIds.length; at += traceIdBytes) {
    ids.push(traceIds.toString('hex', at, at + traceIdBytes));
  }
  return ids;
}
