import type { SpanHead } from '../trace/span.ts';
import { TermBook } from './term-book.ts';
import { dayOf } from './days.ts';
import { OpenTrace } from './open-trace.ts';

export interface AssemblyOptions {
  readonly quietMs: number;
  readonly partialMs: number;
  /** Spans kept in memory; beyond it the oldest traces are completed early. */
  readonly openSpansMax: number;
}

/** How long a complete trace is kept for spans that come late: exporters send every five seconds. */
const lateMs = 30_000;

/**
 * The traces in memory, each in one of these states: new spans come in (fresh), it waits for its root
 * (partial), it is to be completed at once (due), its completion is being written (completing), or it
 * is complete and kept for a while (late). A span moves it to fresh from wherever it is.
 */
export class Assembly {
  readonly #options: AssemblyOptions;
  /** In the order in which they were touched, as are the others. */
  readonly #fresh = new Map<string, OpenTrace>();
  readonly #partial = new Map<string, OpenTrace>();
  readonly #due = new Map<string, OpenTrace>();
  readonly #completing = new Map<string, OpenTrace>();
  readonly #late = new Map<string, OpenTrace>();
  readonly #terms = new TermBook();
  #openSpans = 0;
  #lateSpans = 0;

  constructor(options: AssemblyOptions) {
    this.#options = options;
  }

  /** How many traces are open. */
  get openCount(): number {
    return this.#fresh.size + this.#partial.size + this.#due.size + this.#completing.size;
  }

  /** How many spans are in memory for them. */
  get openSpans(): number {
    return this.#openSpans;
  }

  /** The trace of this id, open or new, as touched now. */
  touch(traceId: string, nowMs: number): OpenTrace {
    const trace = this.#take(traceId) ?? new OpenTrace(traceId, { day: dayOf(nowMs), nowMs });
    trace.lastSeenMs = nowMs;
    this.#fresh.set(traceId, trace);
    return trace;
  }

  /** Adds a span to its trace. */
  add(trace: OpenTrace, head: SpanHead, bytes: Uint8Array | undefined): void {
    const before = trace.spans.size;
    trace.add(head, { bytes, terms: this.#terms.of(head) });
    this.#openSpans += trace.spans.size - before;
  }

  /** Takes what is complete at this time, the longest quiet first, and marks it as completing. */
  takeComplete(nowMs: number, isWritten: (trace: OpenTrace) => boolean, max: number): OpenTrace[] {
    this.#sortOut(nowMs, isWritten);
    const taken: OpenTrace[] = [];
    for (const [traceId, trace] of this.#due) {
      if (taken.length >= max) break;
      this.#due.delete(traceId);
      this.#completing.set(traceId, trace);
      taken.push(trace);
    }
    return taken;
  }

  /** Moves what has been quiet for long enough; when there is too much, what has been the longest. */
  #sortOut(nowMs: number, isWritten: (trace: OpenTrace) => boolean): void {
    const { quietMs, partialMs, openSpansMax } = this.#options;
    const isCrowded = this.#openSpans > openSpansMax;
    for (const [traceId, trace] of this.#fresh) {
      if (!isCrowded && !isQuiet(trace, nowMs, quietMs)) break;
      if (!isWritten(trace)) continue;
      this.#fresh.delete(traceId);
      const isWhole = trace.hasRoot || trace.isLate;
      (isWhole ? this.#due : this.#partial).set(traceId, trace);
    }
    for (const [traceId, trace] of this.#partial) {
      if (!isCrowded && !isQuiet(trace, nowMs, partialMs)) break;
      this.#partial.delete(traceId);
      this.#due.set(traceId, trace);
    }
  }

  /** Notes that a completion is written; a trace that has grown meanwhile stays open. */
  keepLate(trace: OpenTrace): void {
    if (!this.#completing.delete(trace.traceId)) return;
    this.#openSpans -= trace.spans.size;
    this.#lateSpans += trace.spans.size;
    this.#late.set(trace.traceId, trace);
  }

  /** Puts a trace back whose completion was not written, to be tried again at once. */
  putBack(trace: OpenTrace): void {
    if (this.#completing.delete(trace.traceId)) this.#due.set(trace.traceId, trace);
  }

  /** Takes up a trace that is open in the database, to be loaded and completed. */
  adopt(traceId: string, nowMs: number): void {
    const known = this.find(traceId);
    // Its spans came since the process began; the row is older.
    if (known?.revision === 0) known.isStale = true;
    if (known || this.#late.has(traceId)) return;
    const trace = new OpenTrace(traceId, { day: dayOf(nowMs), nowMs });
    trace.isStale = true;
    this.#due.set(traceId, trace);
  }

  /** Forgets a trace altogether. */
  drop(traceId: string): void {
    const trace = this.#take(traceId);
    if (trace) this.#openSpans -= trace.spans.size;
  }

  /** The open trace of this id, not touched. */
  find(traceId: string): OpenTrace | undefined {
    return (
      this.#fresh.get(traceId) ??
      this.#partial.get(traceId) ??
      this.#due.get(traceId) ??
      this.#completing.get(traceId)
    );
  }

  /** The trace of this id while its completion is under way and nothing new has come. */
  findCompleting(traceId: string): OpenTrace | undefined {
    return this.#completing.get(traceId);
  }

  /** The open traces of which rows are owed. */
  owing(): OpenTrace[] {
    const owing: OpenTrace[] = [];
    for (const traces of [this.#fresh, this.#partial, this.#due, this.#completing]) {
      for (const trace of traces.values()) if (trace.owedChunks.length > 0) owing.push(trace);
    }
    return owing;
  }

  /** Lets go of complete traces that nothing came for, the oldest first. */
  forgetLate(nowMs: number): void {
    for (const trace of this.#late.values()) {
      const isCrowded = this.#lateSpans > this.#options.openSpansMax / 4;
      if (!isQuiet(trace, nowMs, lateMs) && !isCrowded) return;
      this.#late.delete(trace.traceId);
      this.#lateSpans -= trace.spans.size;
    }
  }

  #take(traceId: string): OpenTrace | undefined {
    const open = this.find(traceId);
    if (open) {
      this.#fresh.delete(traceId);
      this.#partial.delete(traceId);
      this.#due.delete(traceId);
      this.#completing.delete(traceId);
      return open;
    }
    const late = this.#late.get(traceId);
    if (!late) return undefined;
    this.#late.delete(traceId);
    this.#lateSpans -= late.spans.size;
    this.#openSpans += late.spans.size;
    return late;
  }
}

/** Whether nothing has come for so long. What came much later than now did so by a clock that was set back. */
function isQuiet({ lastSeenMs }: OpenTrace, nowMs: number, forMs: number): boolean {
  return Math.abs(nowMs - lastSeenMs) >= forMs;
}
