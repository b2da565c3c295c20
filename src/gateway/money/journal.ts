import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../../kit/database/data-folder.ts';
import type { Log } from '../../kit/log.ts';
import { JournalSegment } from './journal-segment.ts';
import { JournalSlot } from './journal-slot.ts';
import type { Spend } from './purse.ts';
import { entryOf, type SpendEntry } from './spend-entry.ts';

export interface JournalOptions {
  /** The suite's data folder; the files lie in its folder `gateway`. */
  readonly dataFolder: string;
  readonly bytesMax: number;
  readonly log: Log;
}

/** How a spend belongs to a request. */
export interface SpendPlace {
  /** What was held for it, free as soon as the spend counts. */
  readonly hold?: string | undefined;
  /** Of a request that counts with another spend. */
  readonly isExtra?: boolean;
}

const segmentBytes = 1024 * 1024;
/** Segments whose entries stay in memory; those beyond are read again when their turn comes. */
const segmentsInMemory = 4;
const complaintEveryMs = 60_000;

/**
 * Spends in files of this replica's own, until they are in the database. Whatever kills the process,
 * the next one that opens the folder finds them; a power cut may take what the operating system had
 * not written yet.
 */
export class Journal implements AsyncDisposable {
  readonly #options: JournalOptions;
  readonly #slot: JournalSlot;
  /** The oldest first; the last one is appended to. */
  readonly #segments: JournalSegment[] = [];
  #current: JournalSegment;
  /** The one that `next` gave from. */
  #moving: JournalSegment | undefined;
  #seq = 0;
  /** The last of this process's own that is in the database. */
  #movedSeq = 0;
  #lost = 0;
  #complainedAtMs = Number.NEGATIVE_INFINITY;

  private constructor(options: JournalOptions, slot: JournalSlot) {
    this.#options = options;
    this.#slot = slot;
    this.#current = JournalSegment.create(slot.nextPath());
    this.#segments.push(this.#current);
  }

  /** Takes over what dead processes left in the folder. */
  static async open(options: JournalOptions): Promise<Journal> {
    const folder = join(options.dataFolder, 'gateway');
    await makeFolder(folder);
    const slot = await JournalSlot.take(folder);
    const left = await slot.adopt(() => false);
    const journal = new Journal(options, slot);
    journal.#segments.unshift(...adoptSegments(left));
    return journal;
  }

  /** Spends that were answered and could not be written down, because the bound was reached. */
  get lost(): number {
    return this.#lost;
  }

  get bytes(): number {
    return this.#segments.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** False when all that was appended or found here is in the database. */
  get isEmpty(): boolean {
    return this.#segments.every((segment) => segment.isEmpty);
  }

  /** A test whether all that is here now was moved; what is appended from now on does not matter. */
  mark(): () => boolean {
    const [seq, current] = [this.#seq, this.#current];
    return () => {
      const isFirst = this.#segments[0] === current || !this.#segments.includes(current);
      return isFirst && this.#movedSeq >= seq;
    };
  }

  /** Never throws: an answer that was given cannot be taken back. */
  append(spend: Spend, { hold, isExtra = false }: SpendPlace = {}): void {
    if (this.#current.bytes >= segmentBytes) this.#rotate();
    const isFull = this.#segments.length > 1 && this.bytes >= this.#options.bytesMax;
    if (isFull || this.#current.isFull) {
      this.#lost += 1;
      this.#complain('the journal is full, spends are lost', { lost: this.#lost });
      return;
    }
    this.#seq += 1;
    try {
      const { run } = this.#current;
      this.#current.append(entryOf(spend, { run, seq: this.#seq, isExtra, hold }));
    } catch (error) {
      this.#complain('a spend could not be written to the journal', { err: error });
    }
  }

  /** The oldest entries, of one run; empty when there are none. */
  async next(max: number): Promise<readonly SpendEntry[]> {
    for (;;) {
      const [segment] = this.#segments;
      this.#moving = segment;
      const entries = (await segment?.next(max)) ?? [];
      if (entries.length > 0 || !segment?.isSealed) return entries;
      await this.#remove(segment);
    }
  }

  /** Says that so many of what `next` gave are in the database. */
  async markMoved(count: number): Promise<void> {
    const segment = this.#moving;
    const lastSeq = segment?.markMoved(count);
    if (lastSeq !== undefined && segment?.isOwn) this.#movedSeq = lastSeq;
    if (segment?.isSealed && segment.isEmpty) await this.#remove(segment);
  }

  /** Takes over what processes that died meanwhile have left. */
  async adopt(): Promise<void> {
    const paths = await this.#slot.adopt((path) => this.#segments.some((one) => one.path === path));
    this.#segments.splice(-1, 0, ...adoptSegments(paths));
  }

  /** What was not moved stays in the files, for the next process. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#current.isEmpty) await this.#current.remove();
    else this.#current.seal({ isSpilled: false });
    await this.#slot[Symbol.asyncDispose]();
  }

  #rotate(): void {
    try {
      const next = JournalSegment.create(this.#slot.nextPath());
      this.#current.seal({ isSpilled: this.#segments.length > segmentsInMemory });
      this.#current = next;
      this.#segments.push(next);
    } catch (error) {
      this.#complain('the journal of spends could not begin its next file', { err: error });
    }
  }

  async #remove(segment: JournalSegment): Promise<void> {
    this.#segments.splice(this.#segments.indexOf(segment), 1);
    await segment.remove();
  }

  /** Once a minute, whatever the traffic. */
  #complain(message: string, detail: object): void {
    if (performance.now() - this.#complainedAtMs < complaintEveryMs) return;
    this.#complainedAtMs = performance.now();
    this.#options.log.error(detail, message);
  }
}

/** Without those that were moved and removed since the folder was read. */
function adoptSegments(paths: readonly string[]): JournalSegment[] {
  return paths.filter((path) => existsSync(path)).map((path) => JournalSegment.adopt(path));
}
