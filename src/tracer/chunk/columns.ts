import { asBuffer, ByteReader, ByteWriter } from '../bytes.ts';

/*
 * What of a span is its alone, and compresses badly: its ids and times. They are taken out of the spans of a
 * chunk and stand one kind after the other, where the same id stands once and times are differences.
 */

/** Numbers and wire types of fields as one byte (OTLP, trace.proto and trace_service.proto). */
export const groupTags = { resourceSpans: 10, scopeSpans: 18, span: 18 } as const;
export const spanTags = { traceId: 10, spanId: 18, parentSpanId: 34, start: 57, end: 65 } as const;

export const traceIdBytes = 16;
export const spanIdBytes = 8;

/** What of each field is taken out: all but its tag, so an id with the byte of its length. */
export const takenBytes = { traceId: 17, spanId: 9, parentSpanId: 9, time: 8 } as const;

/** What the column of traces says of a span: it is as it came; or, from `first` on, the number of its trace. */
export const traceMarks = { untouched: 0, first: 1 } as const;

/** What the column of parents says: none was taken out, an id; or, from `first` on, how far away it stands. */
export const parentMarks = { none: 0, id: 1, first: 2 } as const;

/** How far away a span stands, ahead or behind, as a number from 0 on. */
export function distanceCode(distance: number): number {
  return distance < 0 ? -2 * distance - 1 : 2 * distance;
}

/** The distance that `distanceCode` made a number of. */
export function distanceOf(code: number): number {
  return code % 2 === 1 ? -(code + 1) / 2 : code / 2;
}

/** The columns of a chunk, while they are written. */
export class ColumnWriter {
  /** 16 bytes each, every trace once. */
  readonly traceIds = new ByteWriter();
  /** A number for each span, see `traceMarks`. */
  readonly traces = new ByteWriter();
  /** 8 bytes for each regular span. */
  readonly spanIds = new ByteWriter();
  /** A number for each regular span, see `parentMarks`. */
  readonly parents = new ByteWriter();
  /** 8 bytes each, of parents that are not in the chunk. */
  readonly parentIds = new ByteWriter();
  /**
   * Of each regular span by how much it started later than the one before, in nanoseconds, of the first the
   * start as OTLP has it; then how long it took.
   */
  readonly times = new ByteWriter();

  readonly #all = [
    this.traceIds,
    this.traces,
    this.spanIds,
    this.parents,
    this.parentIds,
    this.times,
  ];

  clear(): void {
    for (const column of this.#all) column.clear();
  }

  /** Writes the lengths of the columns, then these. */
  writeTo(writer: ByteWriter): void {
    for (const { length } of this.#all) writer.varint(length);
    for (const { bytes } of this.#all) writer.append(bytes);
  }
}

/** The columns of a chunk, to be read one span after the other. */
export class ColumnReader {
  readonly traceIds: Buffer;
  readonly traces: ByteReader;
  readonly spanIds: Buffer;
  readonly parents: ByteReader;
  readonly parentIds: ByteReader;
  readonly times: ByteReader;

  /** Reads what `writeTo` wrote; the reader stands behind it then. */
  constructor(reader: ByteReader) {
    const lengths = Array.from({ length: 6 }, () => reader.varint());
    const next = (): Buffer => asBuffer(reader.take(lengths.shift() ?? 0));
    this.traceIds = next();
    this.traces = new ByteReader(next());
    this.spanIds = next();
    this.parents = new ByteReader(next());
    this.parentIds = new ByteReader(next());
    this.times = new ByteReader(next());
  }
}
