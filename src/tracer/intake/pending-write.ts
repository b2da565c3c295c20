import type { ChunkPacker } from '../chunk/chunk-body.ts';
import { dayOf } from './days.ts';
import type { AcceptedExport, Write, WrittenChunk } from './writes.ts';
import { openRow } from './open-row.ts';
import type { OpenTrace } from './open-trace.ts';
import type { TagPacker } from './tag-packer.ts';

/** A write takes exports until it has so many bytes. */
const writeBytes = 768 * 1024;
const busyBytes = 128 * 1024;
/** A chunk takes no more: whoever reads a trace unpacks all chunks that hold spans of it. */
const chunkBytes = 256 * 1024;

export interface WriteContext {
  readonly nowMs: number;
  readonly packer: TagPacker;
  readonly chunks: ChunkPacker;
  /** Whether the rows of its traces are written later. */
  readonly owesRows: boolean;
}

/** Exports that make one chunk, and the traces whose spans they hold. */
class PendingChunk {
  readonly bodies: Uint8Array[] = [];
  readonly traces = new Set<OpenTrace>();
  bytes = 0;
}

/** Exports that are written together. */
export class PendingWrite {
  readonly #chunks: PendingChunk[] = [];
  readonly #exports: AcceptedExport[] = [];
  readonly #traces = new Set<OpenTrace>();
  #bytes = 0;
  #spanCount = 0;

  get isFull(): boolean {
    return this.#bytes >= writeBytes;
  }

  /** Whether so much came together that more is likely to come soon. */
  get isBusy(): boolean {
    return this.#bytes >= busyBytes;
  }

  /** Those whose spans each of its chunks holds. */
  get tracesOfChunks(): ReadonlySet<OpenTrace>[] {
    return this.#chunks.map(({ traces }) => traces);
  }

  /** Takes an export's body, as protobuf, and the traces that it touched. */
  add(body: Uint8Array, answer: AcceptedExport, traces: Iterable<OpenTrace>): void {
    const chunk = this.#chunkFor(body);
    chunk.bodies.push(body);
    chunk.bytes += body.length;
    this.#bytes += body.length;
    this.#exports.push(answer);
    this.#spanCount += answer.accepted;
    for (const trace of traces) {
      chunk.traces.add(trace);
      this.#traces.add(trace);
    }
  }

  /** Makes the statement's input; the traces count as written by it from now on. */
  build(number: number, { nowMs, packer, chunks, owesRows }: WriteContext): Write {
    const newIds: string[] = [];
    const doubtfulIds: string[] = [];
    const rows = owesRows ? undefined : this.#openRows(packer);
    for (const trace of this.#traces) {
      if (!trace.isLookedUp) {
        newIds.push(trace.traceId);
        if (trace.isDoubtful) doubtfulIds.push(trace.traceId);
      }
      trace.isLookedUp = true;
      trace.lastWrite = number;
      trace.isWritten = true;
      if (rows) trace.markRow();
    }
    const packed = this.#chunks.map(({ bodies }) => chunks.pack(bodies));
    return {
      number,
      day: dayOf(nowMs),
      body: new Uint8Array(Buffer.concat(packed)),
      chunks: this.#chunks.map(({ traces }, at) => writtenChunk(traces, packed[at]?.length ?? 0)),
      rows: rows && JSON.stringify(rows),
      newIds,
      doubtfulIds,
      exports: this.#exports,
      spanCount: this.#spanCount,
    };
  }

  /** The chunk that takes an export. */
  #chunkFor(body: Uint8Array): PendingChunk {
    const last = this.#chunks.at(-1);
    if (last && last.bytes + body.length <= chunkBytes) return last;
    const chunk = new PendingChunk();
    this.#chunks.push(chunk);
    return chunk;
  }

  /** Each with the chunks that hold its spans, counted from 1. */
  #openRows(packer: TagPacker) {
    const places = new Map<OpenTrace, number[]>();
    for (const [at, { traces }] of this.#chunks.entries()) {
      for (const trace of traces) {
        const known = places.get(trace);
        if (known) known.push(at + 1);
        else places.set(trace, [at + 1]);
      }
    }
    return Array.from(places, ([trace, of_chunks]) => ({ ...openRow(trace, packer), of_chunks }));
  }
}

function writtenChunk(traces: Iterable<OpenTrace>, bytes: number): WrittenChunk {
  return { bytes, traceIds: Array.from(traces, ({ traceId }) => traceId) };
}
