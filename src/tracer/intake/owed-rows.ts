import type { Assembly } from './assembly.ts';
import { namedChunks } from './completing.ts';
import type { IntakeReply, IntakeRequest } from './messages.ts';
import type { WrittenRevision, NamedChunks } from './writes.ts';
import { listOpen, type OpenListing, type OpenQuery } from './open-listing.ts';
import { openRow } from './open-row.ts';
import type { OpenTrace } from './open-trace.ts';
import type { TagPacker } from './tag-packer.ts';

export interface OwedRowsOptions {
  readonly assembly: Assembly;
  readonly packer: TagPacker;
  readonly post: (reply: IntakeReply) => void;
  /** Whether a completion is being written or prepared: it changes the same rows. */
  readonly isBlocked: () => boolean;
  /** The traces whose completion is being written. */
  readonly completing: () => ReadonlySet<OpenTrace>;
  /** Takes note of a row's revision. */
  readonly onRevision: (revision: WrittenRevision) => void;
}

/**
 * Rows are written after so long, so that what is to be made anew after a crash has a bound. Longer than
 * a trace without a root waits: what is soon complete needs no row.
 */
const owedMs = 40_000;

interface OwingChunk {
  readonly storedAtMs: number;
  /** Those whose rows do not name it. */
  readonly traces: Set<OpenTrace>;
}

type Reader = Extract<IntakeRequest, { readonly kind: 'read' }>;

/**
 * The rows of open traces that are owed: most traces are complete before anybody wants to read them, and
 * never have one. Rows are not written while a completion is, for both change the same.
 */
export class OwedRows {
  readonly #options: OwedRowsOptions;
  /** By their numbers, the oldest first. */
  readonly #owing = new Map<number, OwingChunk>();
  /** Chunks that owe nothing any more, which the database does not know. */
  #paid: number[] = [];
  #waiting: Reader[] = [];
  /** Traces that must have rows before they are loaded. */
  #needed: readonly OpenTrace[] = [];
  /** What is being written, and who waits for it. */
  #writing: Writing | undefined;

  constructor(options: OwedRowsOptions) {
    this.#options = options;
  }

  get isWriting(): boolean {
    return this.#writing !== undefined;
  }

  /** Chunks are stored without the rows of their traces. */
  noteChunks(chunks: readonly number[], traces: readonly ReadonlySet<OpenTrace>[]): void {
    const storedAtMs = performance.now();
    for (const [at, chunk] of chunks.entries()) {
      const owing = new Set(traces[at]);
      for (const trace of owing) trace.owedChunks.push(chunk);
      this.#owing.set(chunk, { storedAtMs, traces: owing });
    }
  }

  /** Rows of a trace name chunks; or it is forgotten, and never will have one. */
  pay(trace: OpenTrace, chunks: readonly number[] = [...trace.owedChunks]): void {
    trace.markNamed(chunks);
    for (const chunk of chunks) {
      const owing = this.#owing.get(chunk);
      if (!owing?.traces.delete(trace) || owing.traces.size > 0) continue;
      this.#owing.delete(chunk);
      this.#paid.push(chunk);
    }
  }

  /** Chunks to be told of with the next statement; whose failure is to be told here. */
  takePaid(): readonly number[] {
    const paid = this.#paid;
    this.#paid = [];
    return paid;
  }

  putBackPaid(chunks: readonly number[]): void {
    this.#paid.push(...chunks);
  }

  /** Somebody wants to read. What memory alone can answer waits for no statement. */
  takeReader(reader: Reader): void {
    const { packer } = this.#options;
    const query = queryOf(reader);
    if (query && !this.#writing) {
      const { listed, unlisted } = this.#sort();
      if (unlisted.length === 0) return this.#tell(reader, listOpen(listed, query, packer));
    }
    this.#waiting.push(reader);
    this.writeNext();
  }

  /** These must have rows before they are loaded. */
  want(traces: readonly OpenTrace[]): void {
    this.#needed = traces;
  }

  /** Writes what somebody waits for, and what is due. */
  writeNext(): void {
    if (this.#writing || this.#options.isBlocked()) return;
    const readers = this.#waiting;
    const traces = new Set([...this.#needed, ...this.#wantedBy(readers), ...this.#due()]);
    this.#waiting = [];
    this.#needed = [];
    const open = [...traces].filter(({ owedChunks }) => owedChunks.length > 0);
    const isLate = this.#paid.length > 0 && this.#owing.size === 0;
    if (open.length === 0 && !isLate) return this.#answer(readers);
    const named = open.flatMap(namedChunks);
    const paidChunks = this.takePaid();
    const rows = open.map((trace) => {
      const row = { ...openRow(trace, this.#options.packer), chunks: trace.owedChunks };
      trace.markRow();
      return row;
    });
    this.#writing = { readers, traces: open, named, paidChunks };
    this.#options.post({ kind: 'rows', rows: { rows: JSON.stringify(rows), named, paidChunks } });
  }

  noteWritten(revisions: readonly WrittenRevision[]): void {
    const { readers, traces, named } = this.#end();
    for (const [at, trace] of traces.entries()) this.pay(trace, named[at]?.chunks);
    for (const revision of revisions) this.#options.onRevision(revision);
    this.#answer(readers);
    this.writeNext();
  }

  /** Nobody waits for what cannot be written: it is read as it is. */
  noteFailed(): void {
    const { readers, traces, paidChunks } = this.#end();
    for (const trace of traces) trace.isStale = true;
    this.putBackPaid(paidChunks);
    this.#answer(readers);
  }

  #end(): Writing {
    const writing = this.#writing ?? { readers: [], traces: [], named: [], paidChunks: [] };
    this.#writing = undefined;
    return writing;
  }

  #wantedBy(readers: readonly Reader[]): OpenTrace[] {
    return readers.flatMap(({ wanted }) => {
      if (wanted === 'all') return this.#options.assembly.owing();
      if ('filter' in wanted) return this.#sort().unlisted;
      return this.#options.assembly.find(wanted.traceId) ?? [];
    });
  }

  /**
   * Those that memory knows all of, which are listed from it; and those of which the database has a row too,
   * or will have when a completion is written that does not hold all of their spans. A completion that does
   * has whoever lists wait for it.
   */
  #sort(): { readonly listed: OpenTrace[]; readonly unlisted: OpenTrace[] } {
    const completing = this.#options.completing();
    const listed: OpenTrace[] = [];
    const unlisted: OpenTrace[] = [];
    for (const trace of this.#options.assembly.owing()) {
      const isCompleting = completing.has(trace);
      if (isCompleting && this.#options.assembly.findCompleting(trace.traceId)) continue;
      (isCompleting || hasRows(trace) ? unlisted : listed).push(trace);
    }
    return { listed, unlisted };
  }

  #due(): OpenTrace[] {
    const due: OpenTrace[] = [];
    for (const { storedAtMs, traces } of this.#owing.values()) {
      if (performance.now() - storedAtMs < owedMs) break;
      due.push(...traces);
    }
    return due;
  }

  #answer(readers: readonly Reader[]): void {
    for (const reader of readers) {
      const query = queryOf(reader);
      this.#tell(reader, query && listOpen(this.#sort().listed, query, this.#options.packer));
    }
  }

  #tell({ id }: Reader, listing: OpenListing | undefined): void {
    this.#options.post({ kind: 'settled', id, listing });
  }
}

function queryOf({ wanted }: Reader): OpenQuery | undefined {
  return wanted !== 'all' && 'filter' in wanted ? wanted : undefined;
}

/** The database has a row of it, or may have one that is not known here. */
function hasRows({ revision, completions, isStale, isLate }: OpenTrace): boolean {
  return revision > 0 || completions > 0 || isStale || isLate;
}

interface Writing {
  readonly readers: readonly Reader[];
  readonly traces: readonly OpenTrace[];
  readonly named: readonly NamedChunks[];
  readonly paidChunks: readonly number[];
}
