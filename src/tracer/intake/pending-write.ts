import { packChunk } from './chunk-body.ts';
import { dayOf } from './days.ts';
import type { Write, AcceptedExport } from './writes.ts';
import { openRow } from './open-row.ts';
import type { OpenTrace } from './open-trace.ts';
import type { TagPacker } from './tag-packer.ts';

/** A chunk takes exports until it has so many bytes: two thousand spans compress well together. */
const chunkBytes = 768 * 1024;
const busyBytes = 128 * 1024;

export interface WriteContext {
  readonly nowMs: number;
  readonly packer: TagPacker;
  /** Whether the rows of its traces are written later. */
  readonly owesRows: boolean;
}

/** Exports that are written together. */
export class PendingWrite {
  readonly #bodies: Uint8Array[] = [];
  readonly #exports: AcceptedExport[] = [];
  readonly #traces = new Set<OpenTrace>();
  #bytes = 0;
  #spanCount = 0;

  get isFull(): boolean {
    return this.#bytes >= chunkBytes;
  }

  /** Whether so much came together that more is likely to come soon. */
  get isBusy(): boolean {
    return this.#bytes >= busyBytes;
  }

  /** Those whose spans it holds. */
  get traces(): ReadonlySet<OpenTrace> {
    return this.#traces;
  }

  /** Takes an export's body, as protobuf, and the traces that it touched. */
  add(body: Uint8Array, answer: AcceptedExport, traces: Iterable<OpenTrace>): void {
    this.#bodies.push(body);
    this.#bytes += body.length;
    this.#exports.push(answer);
    this.#spanCount += answer.accepted;
    for (const trace of traces) this.#traces.add(trace);
  }

  /** Makes the statement's input; the traces count as written by it from now on. */
  build(number: number, { nowMs, packer, owesRows }: WriteContext): Write {
    const newIds: string[] = [];
    const doubtfulIds: string[] = [];
    const traceIds: string[] = [];
    const rows = owesRows ? undefined : [...this.#traces].map((trace) => openRow(trace, packer));
    for (const trace of this.#traces) {
      traceIds.push(trace.traceId);
      if (!trace.isLookedUp) {
        newIds.push(trace.traceId);
        if (trace.isDoubtful) doubtfulIds.push(trace.traceId);
      }
      trace.isLookedUp = true;
      trace.lastWrite = number;
      trace.isWritten = true;
      if (rows) trace.markRow();
    }
    return {
      number,
      day: dayOf(nowMs),
      body: packChunk(this.#bodies),
      rows: rows && JSON.stringify(rows),
      newIds,
      doubtfulIds,
      traceIds,
      exports: this.#exports,
      spanCount: this.#spanCount,
    };
  }
}
