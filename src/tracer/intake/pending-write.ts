import { summaryOf } from '../trace/summary.ts';
import { buildTree } from '../trace/tree.ts';
import { packChunk } from './chunk-body.ts';
import type { TraceError, TraceStatus } from '../trace/analysis.ts';
import { dayOf } from './days.ts';
import type { AcceptedExport, Write } from './messages.ts';
import type { OpenTrace } from './open-trace.ts';
import type { TagPacker } from './tag-packer.ts';
import type { OpenRow } from './trace-store.ts';

export const statusNumbers: Readonly<Record<TraceStatus, number>> = {
  success: 0,
  error: 1,
  timeout: 2,
};

/** A chunk takes exports until it has so many bytes: two thousand spans compress well together. */
const chunkBytes = 768 * 1024;
const busyBytes = 128 * 1024;

export interface WriteContext {
  readonly nowMs: number;
  readonly packer: TagPacker;
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
  build(number: number, { nowMs, packer }: WriteContext): Write {
    const rows: OpenRow[] = [];
    for (const trace of this.#traces) {
      rows.push(openRow(trace, packer));
      trace.lastWrite = number;
      trace.newSpans = 0;
      trace.newErrors = 0;
    }
    return {
      number,
      day: dayOf(nowMs),
      body: packChunk(this.#bodies),
      rows: JSON.stringify(rows),
      exports: this.#exports,
      spanCount: this.#spanCount,
    };
  }
}

function openRow(trace: OpenTrace, packer: TagPacker): OpenRow {
  const { root } = trace;
  return {
    trace_id: trace.traceId,
    day: trace.day,
    received_at: trace.receivedAtMs,
    start_us: trace.startUs,
    end_us: trace.endUs,
    name: storable(root?.name ?? ''),
    service: storable(root?.service ?? ''),
    agent: storable(root?.agent ?? ''),
    agents: [...trace.agents].map(storable),
    terms: [...trace.terms],
    ...failureOf(trace),
    span_count: trace.newSpans,
    error_count: trace.newErrors,
    // Whoever has no parent is the root; who else may be is known when the trace is complete.
    tags: (root && trace.hasRoot && trace.tagsOf(root.spanId, packer)) || null,
    is_partial: !trace.hasRoot,
  };
}

/** What went wrong so far: few traces fail, so only those are looked into before they are complete. */
function failureOf({ hasError, spans }: OpenTrace): Pick<OpenRow, 'status' | 'error'> {
  if (!hasError || spans.size === 0) return { status: 0, error: null };
  const { status, error } = summaryOf(buildTree([...spans.values()]));
  return { status: statusNumbers[status], error: errorText(error) };
}

/** What went wrong, as a row has it. */
export function errorText(error: TraceError | undefined): string | null {
  return error ? storable(JSON.stringify(error)) : null;
}

/** PostgreSQL keeps no U+0000 in a text. */
export function storable(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text;
}
