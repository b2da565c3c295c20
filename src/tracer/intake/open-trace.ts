import { isDeepStrictEqual } from 'node:util';
import { supersedes, type SpanHead } from '../trace/span.ts';
import { dayOf, spansKeptDays } from './days.ts';
import type { LoadedTrace } from './writes.ts';
import type { TagPacker } from './tag-packer.ts';

/** Beyond it a trace's spans are stored and counted, but no longer analysed. */
const analysedSpansMax = 250_000;

/** What is kept of a span beside its head. */
export interface SpanExtras {
  /** Its bytes, where it may be the root. */
  readonly bytes: Uint8Array | undefined;
  /** By which it is found. */
  readonly terms: readonly number[];
}

/**
 * A trace to which spans may still come, as far as it is known in memory. Its rows in the database
 * say the same up to the last write.
 */
export class OpenTrace {
  readonly traceId: string;
  readonly spans = new Map<string, SpanHead>();
  readonly agents = new Set<string>();
  readonly terms = new Set<number>();
  /** Days since the epoch: the partition of its row. */
  day: number;
  readonly receivedAtMs: number;
  lastSeenMs: number;
  /** The number of the last write that holds spans of it; 0 when none does. */
  lastWrite = 0;
  /** How often its open row has been written, and how often it was found complete. */
  revision = 0;
  completions = 0;
  /** Its spans as the series have counted them. */
  counted: readonly SpanHead[] = [];
  /** The database may know more of it: it is loaded before it is completed. */
  isStale = false;
  hasRoot = false;
  /** It was complete before it came into memory, so nobody waits for its root. */
  isLate = false;
  hasError = false;
  /** A span of it was sent in two ways. */
  isAmended = false;
  startUs = Number.MAX_SAFE_INTEGER;
  endUs = 0;
  /** All its spans are held by some write, if not stored yet. */
  isWritten = true;
  /** Its spans that its row has not counted. */
  uncounted: SpanCount = { spans: 0, errors: 0 };
  /** Chunks with spans of it that neither of its rows names. */
  readonly owedChunks: number[] = [];
  /** Whether it was complete before it came into memory has been looked up. */
  isLookedUp = false;
  /** The span that names it until its analysis does. */
  root: SpanHead | undefined;
  readonly #entries = new Map<string, Uint8Array>();
  #packed: { readonly spanId: string; readonly tags: string | undefined } | undefined;

  constructor(traceId: string, at: { readonly day: number; readonly nowMs: number }) {
    this.traceId = traceId;
    this.day = at.day;
    this.receivedAtMs = at.nowMs;
    this.lastSeenMs = at.nowMs;
  }

  /** It may be of a trace that came on another day: it has no root, or did not begin on the day it came. */
  get isDoubtful(): boolean {
    return this.completions === 0 && (!this.hasRoot || dayOf(this.startUs / 1_000) !== this.day);
  }

  /** Takes a span; one that is known already counts once, and stays the same if it comes again as it was. */
  add(head: SpanHead, { bytes, terms }: SpanExtras): void {
    const known = this.spans.get(head.spanId);
    this.isWritten = false;
    if (known) {
      if (!isDeepStrictEqual(head, known)) this.#amend(head, known);
    } else {
      this.uncounted.spans += 1;
      if (head.isError) this.uncounted.errors += 1;
      if (this.spans.size < analysedSpansMax) this.spans.set(head.spanId, head);
    }
    if (bytes) this.#entries.set(head.spanId, bytes);
    for (const term of terms) this.terms.add(term);
    this.#note(head);
  }

  /** The packed attributes of a span that may be the root; packed once. */
  tagsOf(spanId: string, packer: TagPacker): string | undefined {
    if (this.#packed?.spanId !== spanId) {
      const bytes = this.#entries.get(spanId);
      this.#packed = { spanId, tags: bytes && packer.pack(bytes) };
    }
    return this.#packed.tags;
  }

  /** Takes over what the database knows; the spans are added after it. */
  reload(stored: LoadedTrace, today: number): void {
    // Where it has no row yet, the day on which it began may not be kept any more.
    const isKept = stored.completions > 0 || stored.day > today - spansKeptDays;
    this.day = isKept ? stored.day : today;
    this.revision = stored.revision;
    this.completions = stored.completions;
    this.isStale = false;
    this.spans.clear();
    this.#entries.clear();
    this.#packed = undefined;
    this.hasRoot = false;
    this.isAmended = false;
    this.root = undefined;
  }

  /** It was complete before, so the database knows more of it, and nobody waits for its root. */
  markLate(): void {
    this.isStale = true;
    this.isLate = true;
  }

  /** Remembers that its row counts it as it is now, or as it was when so much was not counted. */
  markRow({ spans, errors } = this.uncounted): void {
    this.uncounted = {
      spans: this.uncounted.spans - spans,
      errors: this.uncounted.errors - errors,
    };
  }

  /** A row that was to count so much is not written. */
  unmarkRow({ spans, errors }: SpanCount): void {
    this.markRow({ spans: -spans, errors: -errors });
  }

  /** Remembers that rows name these chunks. */
  markNamed(chunks: readonly number[]): void {
    const left = this.owedChunks.filter((chunk) => !chunks.includes(chunk));
    this.owedChunks.splice(0, this.owedChunks.length, ...left);
  }

  /** Remembers that the series count it as it is now, and that it has no open row any more. */
  markCounted(counted: readonly SpanHead[]): void {
    this.counted = counted;
    this.completions += 1;
    this.revision = 0;
    this.#entries.clear();
  }

  /** A span was sent in two ways; what was noted of the one that is not kept may be wrong. */
  #amend(head: SpanHead, known: SpanHead): void {
    this.isAmended = true;
    if (supersedes(head, known)) this.spans.set(head.spanId, head);
  }

  #note(head: SpanHead): void {
    this.agents.add(head.agent);
    this.startUs = Math.min(this.startUs, head.startUs);
    this.endUs = Math.max(this.endUs, head.endUs);
    if (head.isError) this.hasError = true;
    if (head.parentSpanId === undefined) this.hasRoot = true;
    if (!this.root || outranks(head, this.root)) this.root = head;
  }
}

/** How many spans, and how many of them failed. */
export interface SpanCount {
  spans: number;
  errors: number;
}

/** A root before a span with a parent; the longest of the roots, the earliest of the others. */
function outranks(head: SpanHead, other: SpanHead): boolean {
  const isRoot = head.parentSpanId === undefined;
  if (isRoot !== (other.parentSpanId === undefined)) return isRoot;
  const longerUs = head.endUs - head.startUs - (other.endUs - other.startUs);
  if (isRoot && longerUs !== 0) return longerUs > 0;
  return head.startUs < other.startUs;
}
