import type { SpanHead } from '../trace/span.ts';
import { Assembly } from './assembly.ts';
import { Completing, type OpenCompletion } from './completing.ts';
import { dayOf } from './days.ts';
import { ExportReader, type ReadExport } from './export-reader.ts';
import type {
  IntakeReply,
  IntakeRequest,
  IntakeSettings,
  LoadedTrace,
  UnfitTrace,
  WrittenRevision,
} from './messages.ts';
import type { OpenTrace } from './open-trace.ts';
import { readExportBody, refusalOf } from './export-body.ts';
import { PendingWrite } from './pending-write.ts';
import { readStoredSpans, type SpansByChunk } from './stored-spans.ts';
import { TagPacker } from './tag-packer.ts';

/** How long a first export waits for company, unless it fills a chunk. */
const companyMs = 10;

/** Traces of one statement. */
const completionMax = 2_000;

/** The more traces a statement completes, the fewer times it adds to the same cells. */
const completionSpacingMs = 200;

/** Under load an export waits for those that come meanwhile: traces that share a write share its cost. */
const writeSpacingMs = 80;

/** Traces loaded at once. */
const loadMax = 500;

type Of<K extends IntakeRequest['kind']> = Extract<IntakeRequest, { kind: K }>;

/**
 * Makes traces of exports. It asks for one write and one completion at a time and goes on gathering
 * meanwhile, so the statements grow with the load.
 */
export class Assembler {
  readonly #settings: IntakeSettings;
  readonly #post: (reply: IntakeReply) => void;
  readonly #reader = new ExportReader();
  readonly #assembly: Assembly;
  readonly #packer = new TagPacker();
  readonly #completing = new Completing(this.#packer);
  readonly #waiting: PendingWrite[] = [];
  #writing: PendingWrite | undefined;
  #writeNumber = 0;
  #writtenNumber = 0;
  #wroteAt = 0;
  #wasBusy = false;
  #completedAt = 0;
  #timer: NodeJS.Timeout | undefined;
  #open: OpenCompletion | undefined;
  /** The completion at hand leaves some for the next, with cells of their own. */
  #isPartOfMore = false;
  #loading = new Set<string>();

  constructor(settings: IntakeSettings, post: (reply: IntakeReply) => void) {
    this.#settings = settings;
    this.#post = post;
    this.#assembly = new Assembly(settings);
  }

  /** Takes an export; its answer follows once it is stored, or a refusal at once. */
  takeExport({ id, body, form }: Of<'export'>): void {
    try {
      const protobuf = readExportBody(body, form, this.#settings.exportBytesMax);
      this.#takeSpans(id, protobuf, this.#reader.read(protobuf));
    } catch (error) {
      this.#post({ kind: 'refused', id, refusal: refusalOf(error) });
    }
  }

  /** A write is stored. */
  noteWritten({ revisions }: Of<'written'>): void {
    this.#writtenNumber = this.#writeNumber;
    this.#writing = undefined;
    for (const revision of revisions) this.#noteRevision(revision);
    this.#writeSoon();
  }

  /** A write is not stored: what it held is only what the database has of it. */
  noteWriteFailed(): void {
    this.#writtenNumber = this.#writeNumber;
    for (const trace of this.#writing?.traces ?? []) trace.isStale = true;
    this.#writing = undefined;
    this.#writeSoon();
  }

  /** Looks for complete traces; to be called several times a second. */
  sweep(nowMs = Date.now()): void {
    this.#assembly.forgetLate(nowMs);
    this.#post({
      kind: 'state',
      openTraces: this.#assembly.openCount,
      openSpans: this.#assembly.openSpans,
    });
    if (performance.now() - this.#completedAt < completionSpacingMs) return;
    this.#completeNext(nowMs);
  }

  #completeNext(nowMs: number): void {
    if (this.#open || this.#loading.size > 0) return;
    const isWritten = ({ lastWrite, newSpans }: OpenTrace) =>
      newSpans === 0 && lastWrite <= this.#writtenNumber;
    const complete = this.#assembly.takeComplete(nowMs, isWritten, completionMax);
    const stale = complete.filter(({ isStale }) => isStale);
    this.#load(stale);
    this.#complete(complete.filter(({ isStale }) => !isStale));
  }

  /** A completion is stored: its traces stay for a while for spans that come late. */
  noteCompleted(): void {
    const { traces = [] } = this.#open ?? {};
    this.#open = undefined;
    for (const { trace, heads } of traces) {
      trace.markCounted(heads);
      this.#assembly.keepLate(trace);
    }
    // To wait would spare nothing.
    if (this.#isPartOfMore) this.#completeNext(Date.now());
  }

  /** A completion is not stored: it is tried again, after a look at what has changed. */
  noteNotCompleted({ changed }: Of<'not-completed'>): void {
    const { traces = [] } = this.#open ?? {};
    this.#open = undefined;
    this.#completing.forget();
    const stale = new Set(changed);
    for (const { trace } of traces) {
      if (stale.has(trace.traceId)) trace.isStale = true;
      this.#assembly.putBack(trace);
    }
  }

  /** What was asked for has been read from the database. */
  takeLoaded({ traces, chunks, gone }: Of<'loaded'>): void {
    this.#loading.clear();
    for (const traceId of gone) {
      if (this.#assembly.findCompleting(traceId)) this.#assembly.drop(traceId);
    }
    const heads = readStoredSpans(this.#reader, traces, chunks);
    const loaded = traces.map((stored) => this.#reload(stored, heads));
    this.#complete(loaded.filter((trace) => trace !== undefined));
  }

  /** Reading failed: the traces are looked at again later. */
  noteNotLoaded(): void {
    for (const traceId of this.#loading) {
      const trace = this.#assembly.findCompleting(traceId);
      if (trace) this.#assembly.putBack(trace);
    }
    this.#loading.clear();
  }

  /** Takes up traces that are open in the database. */
  adopt({ traceIds }: Of<'adopt'>): void {
    for (const traceId of traceIds) this.#assembly.adopt(traceId, Date.now());
  }

  setBaselines({ table }: Of<'baselines'>): void {
    this.#completing.setBaselines(table);
  }

  #takeSpans(id: number, body: Uint8Array, read: ReadExport): void {
    const { heads, entries, rejectedCount, rejection } = read;
    const answer = { id, accepted: heads.length, rejected: rejectedCount, reason: rejection };
    if (heads.length === 0) {
      this.#post({ kind: 'accepted', answer });
      return;
    }
    const traces = this.#addSpans(heads, entries);
    this.#pending().add(body, answer, traces);
    this.#writeSoon();
  }

  #addSpans(heads: readonly SpanHead[], entries: ReadonlyMap<string, Uint8Array>): Set<OpenTrace> {
    const nowMs = Date.now();
    const traces = new Set<OpenTrace>();
    let trace: OpenTrace | undefined;
    for (const head of heads) {
      // Spans of a trace mostly come together.
      if (trace?.traceId !== head.traceId) {
        trace = this.#assembly.touch(head.traceId, nowMs);
        traces.add(trace);
      }
      this.#assembly.add(trace, head, entries.get(head.spanId));
    }
    return traces;
  }

  /** The write that takes exports now. */
  #pending(): PendingWrite {
    const last = this.#waiting.at(-1);
    if (last && !last.isFull) return last;
    const pending = new PendingWrite();
    this.#waiting.push(pending);
    return pending;
  }

  #writeSoon(): void {
    const [first] = this.#waiting;
    if (!first || this.#writing) return;
    if (first.isFull) return this.#writeNext();
    const spacedMs = this.#wasBusy ? this.#wroteAt + writeSpacingMs - performance.now() : 0;
    const waitMs = Math.max(companyMs, spacedMs);
    this.#timer ??= setTimeout(() => this.#writeNext(), waitMs);
  }

  #writeNext(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#writing) return;
    const next = this.#waiting.shift();
    if (!next) return;
    this.#writing = next;
    this.#wroteAt = performance.now();
    this.#wasBusy = next.isBusy;
    this.#writeNumber += 1;
    this.#post({
      kind: 'write',
      write: next.build(this.#writeNumber, { nowMs: Date.now(), packer: this.#packer }),
    });
  }

  #noteRevision({ traceId, revision, isLate }: WrittenRevision): void {
    const trace = this.#assembly.find(traceId);
    if (!trace) return;
    if (revision !== trace.revision + 1 || isLate) trace.isStale = true;
    if (isLate) trace.isLate = true;
    trace.revision = revision;
  }

  #load(traces: readonly OpenTrace[]): void {
    for (const trace of traces.slice(loadMax)) this.#assembly.putBack(trace);
    const traceIds = traces.slice(0, loadMax).map(({ traceId }) => traceId);
    if (traceIds.length === 0) return;
    this.#loading = new Set(traceIds);
    this.#post({ kind: 'load', traceIds });
  }

  #complete(traces: readonly OpenTrace[]): void {
    if (traces.length === 0) return;
    if (this.#open) {
      for (const trace of traces) this.#assembly.putBack(trace);
      return;
    }
    const open = this.#completing.build(traces);
    this.#completedAt = performance.now();
    this.#abandon(open.unfit);
    const left = traces.slice(open.traces.length + open.unfit.length);
    for (const trace of left) this.#assembly.putBack(trace);
    if (open.traces.length === 0) return;
    this.#open = open;
    this.#isPartOfMore = left.length > 0;
    this.#post({ kind: 'complete', completion: open.completion });
  }

  #abandon(traces: readonly UnfitTrace[]): void {
    if (traces.length === 0) return;
    for (const { traceId } of traces) this.#assembly.drop(traceId);
    this.#post({ kind: 'abandon', traces });
  }

  #reload(stored: LoadedTrace, read: SpansByChunk): OpenTrace | undefined {
    const trace = this.#assembly.findCompleting(stored.traceId);
    if (!trace) return undefined;
    trace.reload(stored, dayOf(Date.now()));
    for (const [index, chunk] of stored.chunks.entries()) {
      if (index === stored.countedChunks) trace.counted = [...trace.spans.values()];
      const spans = read.get(chunk)?.get(stored.traceId);
      for (const head of spans?.heads ?? []) {
        this.#assembly.add(trace, head, spans?.entries.get(head.spanId));
      }
    }
    trace.newSpans = 0;
    trace.newErrors = 0;
    return trace;
  }
}
