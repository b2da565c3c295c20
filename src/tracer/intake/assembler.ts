import type { SpanHead } from '../trace/span.ts';
import { Assembly } from './assembly.ts';
import { Completing, type OpenCompletion } from './completing.ts';
import { dayOf } from './days.ts';
import { ExportReader, type ReadExport } from './export-reader.ts';
import type { IntakeReply, IntakeRequest, IntakeSettings, UnfitTrace } from './messages.ts';
import type { LoadedTrace, WrittenRevision } from './writes.ts';
import type { OpenTrace } from './open-trace.ts';
import { OwedRows } from './owed-rows.ts';
import { readExportBody, refusalOf } from './export-body.ts';
import { readStoredSpans, type SpansByChunk } from './stored-spans.ts';
import { TagPacker } from './tag-packer.ts';
import { WriteQueue } from './write-queue.ts';

/** Traces of one statement: whoever reads waits behind it. */
const completionMax = 150;

/** The more traces a statement completes, the fewer times it adds to the same cells. */
const completionSpacingMs = 200;

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
  readonly #writes: WriteQueue;
  readonly #owed: OwedRows;
  #completedAt = 0;
  /** The completion that is being prepared. */
  #draft: Generator<void, OpenCompletion> | undefined;
  /** The completion that is being written. */
  #open: OpenCompletion | undefined;
  /** The completion at hand leaves some for the next, with cells of their own. */
  #isPartOfMore = false;
  #loading = new Set<string>();

  constructor(settings: IntakeSettings, post: (reply: IntakeReply) => void) {
    this.#settings = settings;
    this.#post = post;
    this.#assembly = new Assembly(settings);
    const { owesRows } = settings;
    this.#writes = new WriteQueue({ packer: this.#packer, owesRows, post });
    this.#owed = new OwedRows({
      assembly: this.#assembly,
      packer: this.#packer,
      post,
      isBlocked: () => this.#isCompleting,
      completing: () => new Set(this.#open?.traces.map(({ trace }) => trace)),
      onRevision: (revision) => this.#noteRevision(revision),
    });
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
  noteWritten({ revisions, chunks, lateIds }: Of<'written'>): void {
    const traces = this.#writes.end();
    if (chunks) this.#owed.noteChunks(chunks, traces);
    for (const revision of revisions) this.#noteRevision(revision);
    for (const traceId of lateIds) this.#assembly.find(traceId)?.markLate();
  }

  /** A write is not stored: what it held is only what the database has of it. */
  noteWriteFailed(): void {
    for (const traces of this.#writes.end()) {
      for (const trace of traces) trace.isStale = true;
    }
  }

  /** Looks for complete traces; to be called several times a second. */
  sweep(nowMs = Date.now()): void {
    this.#assembly.forgetLate(nowMs);
    this.#post({
      kind: 'state',
      openTraces: this.#assembly.openCount,
      openSpans: this.#assembly.openSpans,
    });
    this.#owed.writeNext();
    if (performance.now() - this.#completedAt < completionSpacingMs) return;
    this.#completeNext(nowMs);
  }

  /** Somebody wants to read the rows of open traces, or what they would say. */
  answerReader(reader: Of<'read'>): void {
    this.#owed.takeReader(reader);
  }

  /** Rows that were owed are written, or not. */
  noteRows({ revisions }: Of<'rows-over'>): void {
    if (revisions) this.#owed.noteWritten(revisions);
    else this.#owed.noteFailed();
  }

  /** Whether a completion is being written or prepared. */
  get #isCompleting(): boolean {
    return this.#draft !== undefined || this.#open !== undefined || this.#loading.size > 0;
  }

  #completeNext(nowMs: number): void {
    if (this.#isCompleting) return;
    // Who waits to read comes first.
    this.#owed.writeNext();
    if (this.#owed.isWriting) return;
    const isWritten = (trace: OpenTrace) => this.#writes.isOver(trace);
    const complete = this.#assembly.takeComplete(nowMs, isWritten, completionMax);
    this.#isPartOfMore = complete.length === completionMax;
    const stale = complete.filter(({ isStale }) => isStale);
    this.#load(stale);
    this.#complete(complete.filter(({ isStale }) => !isStale));
  }

  /** A completion is stored: its traces stay for a while for spans that come late. */
  noteCompleted(): void {
    const { traces = [], completion } = this.#open ?? {};
    this.#open = undefined;
    const chunks = new Map(completion?.named.map((each) => [each.traceId, each.chunks]));
    for (const { trace, heads } of traces) {
      this.#owed.pay(trace, chunks.get(trace.traceId) ?? []);
      trace.markCounted(heads);
      this.#assembly.keepLate(trace);
    }
    this.#owed.writeNext();
    // To wait would spare nothing.
    if (this.#isPartOfMore) this.#completeNext(Date.now());
  }

  /** A completion is not stored: it is tried again, after a look at what has changed. */
  noteNotCompleted({ changed }: Of<'not-completed'>): void {
    const { traces = [], completion } = this.#open ?? {};
    this.#open = undefined;
    this.#owed.putBackPaid(completion?.paidChunks ?? []);
    this.#completing.forget();
    const stale = new Set(changed);
    for (const { trace, uncounted } of traces) {
      if (stale.has(trace.traceId)) trace.isStale = true;
      trace.unmarkRow(uncounted);
      this.#assembly.putBack(trace);
    }
    this.#owed.writeNext();
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
    this.#owed.writeNext();
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
    this.#writes.add(body, answer, this.#addSpans(heads, entries));
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

  #noteRevision({ traceId, revision, isLate }: WrittenRevision): void {
    const trace = this.#assembly.find(traceId);
    if (!trace) return;
    if (revision !== trace.revision + 1) trace.isStale = true;
    if (isLate) trace.markLate();
    trace.revision = revision;
  }

  /** Loads what the database may know more of; what its rows do not name is written first. */
  #load(traces: readonly OpenTrace[]): void {
    const owing = traces.filter(({ owedChunks }) => owedChunks.length > 0);
    const settled = traces.filter(({ owedChunks }) => owedChunks.length === 0);
    for (const trace of [...owing, ...settled.slice(loadMax)]) this.#assembly.putBack(trace);
    const traceIds = settled.slice(0, loadMax).map(({ traceId }) => traceId);
    if (owing.length > 0) this.#owed.want(owing);
    if (traceIds.length === 0) return;
    this.#loading = new Set(traceIds);
    this.#post({ kind: 'load', traceIds });
  }

  #complete(traces: readonly OpenTrace[]): void {
    if (traces.length === 0) return;
    if (this.#draft || this.#open) {
      for (const trace of traces) this.#assembly.putBack(trace);
      return;
    }
    this.#draft = this.#completing.build({
      traces,
      paidChunks: this.#owed.takePaid(),
      isWanted: (trace) => this.#assembly.findCompleting(trace.traceId) === trace,
    });
    this.#prepare();
  }

  /** Analyses some traces, and the next ones after what the thread has been asked for meanwhile. */
  #prepare(): void {
    const step = this.#draft?.next();
    if (!step) return;
    if (!step.done) {
      setImmediate(() => this.#prepare());
      return;
    }
    this.#draft = undefined;
    this.#write(step.value);
  }

  #write(open: OpenCompletion): void {
    this.#completedAt = performance.now();
    this.#abandon(open.unfit);
    for (const trace of open.left) this.#assembly.putBack(trace);
    if (open.traces.length === 0) return this.#owed.putBackPaid(open.completion.paidChunks);
    for (const { trace, uncounted } of open.traces) trace.markRow(uncounted);
    this.#open = open;
    this.#isPartOfMore ||= open.left.length > 0;
    this.#post({ kind: 'complete', completion: open.completion });
  }

  #abandon(traces: readonly UnfitTrace[]): void {
    if (traces.length === 0) return;
    for (const { traceId } of traces) {
      const trace = this.#assembly.find(traceId);
      if (trace) this.#owed.pay(trace);
      this.#assembly.drop(traceId);
    }
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
    trace.isWritten = true;
    trace.markRow();
    return trace;
  }
}
