import type { WantedTraces } from './messages.ts';
import type { NamedChunks, WrittenChunk } from './writes.ts';
import { nothingOpen, type OpenListing, type OpenQuery, type OpenTraces } from './open-listing.ts';

/** A completion that is not stored is tried again, and mostly is then. */
const attemptsMax = 3;

/**
 * Knows which open traces have spans that no row of theirs names, and makes who wants to read them wait
 * until the thread has had the rows written, or has said what they would say.
 */
export class Settling {
  readonly #ask: (id: number, wanted: WantedTraces) => void;
  /** By trace, how many chunks its rows do not name. */
  readonly #owed = new Map<string, number>();
  readonly #waiting = new Map<number, (listing: OpenListing | undefined) => void>();
  #lastId = 0;
  /** Whether the thread knows of all rows that the database has. */
  #isTakenUp = false;
  /** The completion that is being written, and whether it is stored then. */
  #completing: Promise<boolean> | undefined;

  /** Traces that have open rows, or will have; undefined where others write such rows too. */
  readonly #withRows: Set<string> | undefined;

  constructor(ask: (id: number, wanted: WantedTraces) => void, isAlone: boolean) {
    this.#ask = ask;
    this.#withRows = isAlone ? new Set() : undefined;
  }

  /** Open rows are about to be written, or are there. */
  noteRows(traceIds: Iterable<string>): void {
    if (!this.#withRows) return;
    for (const traceId of traceIds) this.#withRows.add(traceId);
  }

  /** Traces have no open rows any more. */
  noteNoRows(traceIds: readonly string[]): void {
    if (!this.#withRows?.size) return;
    for (const traceId of traceIds) this.#withRows.delete(traceId);
  }

  /** Chunks were stored without rows. */
  noteChunks(chunks: readonly WrittenChunk[]): void {
    for (const { traceIds } of chunks) {
      for (const traceId of traceIds) this.#owed.set(traceId, (this.#owed.get(traceId) ?? 0) + 1);
    }
  }

  /** Rows that name chunks were stored. */
  noteNamed(named: readonly NamedChunks[]): void {
    for (const { traceId, chunks } of named) {
      const left = (this.#owed.get(traceId) ?? 0) - chunks.length;
      if (left > 0) this.#owed.set(traceId, left);
      else this.#owed.delete(traceId);
    }
  }

  /** They will have no rows. */
  forget(traceIds: readonly string[]): void {
    for (const traceId of traceIds) this.#owed.delete(traceId);
  }

  /** The thread has been told of every open trace that has a row. */
  noteTakenUp(): void {
    this.#isTakenUp = true;
  }

  /** A completion is being written, of which there is one at a time; resolves with whether it is stored. */
  noteCompleting(isStored: Promise<boolean>): void {
    const completing = isStored.finally(() => {
      if (this.#completing === completing) this.#completing = undefined;
    });
    this.#completing = completing;
  }

  /**
   * Resolves once all that was stored of an open trace can be read in its row; answers whether the trace has an
   * open row, or may have.
   */
  async settle(traceId: string): Promise<boolean> {
    if (this.#owed.has(traceId)) await this.#answerTo({ traceId });
    return !this.#isTakenUp || this.#withRows?.has(traceId) !== false;
  }

  /**
   * The open traces that no row tells of. A statement that is sent at once finds all others, and none of
   * these: what is being completed meanwhile is waited for.
   */
  async list(query: OpenQuery): Promise<OpenTraces> {
    const listing = await this.#list(query);
    return { ...listing, hasRows: !this.#isTakenUp || this.#withRows?.size !== 0 };
  }

  async #list(query: OpenQuery): Promise<OpenListing> {
    let listing: OpenListing | undefined;
    for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
      if (this.#owed.size === 0) return nothingOpen;
      listing = await this.#answerTo(this.#isTakenUp ? query : 'all');
      const isStored = this.#completing === undefined || (await this.#completing);
      if (isStored) break;
    }
    return listing ?? nothingOpen;
  }

  noteSettled(id: number, listing: OpenListing | undefined): void {
    this.#waiting.get(id)?.(listing);
    this.#waiting.delete(id);
  }

  /** Nobody will answer any more. */
  clear(): void {
    this.#owed.clear();
    this.#isTakenUp = false;
    this.#withRows?.clear();
    for (const resolve of this.#waiting.values()) resolve(undefined);
    this.#waiting.clear();
  }

  #answerTo(wanted: WantedTraces): Promise<OpenListing | undefined> {
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.#ask(id, wanted);
    });
  }
}
