import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../../kit/database/data-folder.ts';
import type { Log } from '../../kit/log.ts';
import { JournalSegment, type JournalBatch } from './journal-segment.ts';
import { JournalSlot } from './journal-slot.ts';
import type { Spend } from './purse.ts';
import { entryOf } from './spend-entry.ts';
import { UnfinishedSpends, type KeptPlace } from './unfinished-spends.ts';

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
  readonly isPart?: boolean;
}

/** How what was spent so far belongs to a request that is not answered to its end. */
export interface UnfinishedPlace {
  readonly hold: string | undefined;
  /** Where it was kept before. */
  readonly kept: KeptPlace | undefined;
}

const segmentBytes = 1024 * 1024;
/** Segments whose entries stay in memory; those beyond are read again when their turn comes. */
const segmentsInMemory = 4;
const complaintEveryMs = 60_000;
const standalone: SpendPlace = {};

/**
 * Spends in files of this replica's own, until they are in the database. Whatever kills the process,
 * the next one that opens the folder finds them; a power cut may take what the operating system had
 * not written yet.
 */
export class Journal implements AsyncDisposable {
  readonly #options: JournalOptions;
  readonly #slot: JournalSlot;
  readonly #unfinished: UnfinishedSpends;
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
    this.#unfinished = new UnfinishedSpends(slot.unfinishedPath, (error) =>
      this.#complain('what was spent so far could not be kept', { err: error }),
    );
    this.#current = this.#create();
    this.#segments.push(this.#current);
  }

  /** Takes over what dead processes left in the folder. */
  static async open(options: JournalOptions): Promise<Journal> {
    const folder = join(options.dataFolder, 'gateway');
    await makeFolder(folder);
    const slot = await JournalSlot.take(folder);
    const left = await slot.adopt(() => false);
    left.push(...(await slot.adoptUnfinished()));
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

  /**
   * Resolves when the spend would survive the end of this process. Never fails: an answer that was
   * given cannot be taken back.
   */
  append(spend: Spend, { hold, isPart = false }: SpendPlace = standalone): void | Promise<void> {
    if (this.#current.bytes >= segmentBytes) this.#rotate();
    const isFull = this.#segments.length > 1 && this.bytes >= this.#options.bytesMax;
    if (isFull || this.#current.isFull) {
      this.#lost += 1;
      this.#complain('the journal is full, spends are lost', { lost: this.#lost });
      return undefined;
    }
    this.#seq += 1;
    return this.#current.append(entryOf(spend, { seq: this.#seq, isPart, hold }));
  }

  /** Keeps what a request took so far for the next process, if this one dies. */
  keep(spend: Spend, { hold, kept }: UnfinishedPlace): KeptPlace | undefined {
    return this.#unfinished.write(entryOf(spend, { seq: 0, isPart: false, hold }), kept);
  }

  /** What was kept is over, and counts some other way or not at all. */
  takeBack(kept: KeptPlace): void {
    this.#unfinished.clear(kept);
  }

  /** The oldest entries, of one run; undefined when there are none. */
  async next(max: number): Promise<JournalBatch | undefined> {
    for (;;) {
      const [segment] = this.#segments;
      this.#moving = segment;
      const batch = await segment?.next(max).catch((error: unknown) => {
        // It stays on the disk, where `adopt` finds it again; nothing else waits for it.
        this.#complain('a file of the journal could not be read', { err: error });
        return 'unreadable' as const;
      });
      if (batch === 'unreadable') this.#segments.splice(0, 1);
      else if (batch || !segment?.isSealed) return batch;
      else await this.#remove(segment);
    }
  }

  /** Says through which entry the database has the run of what `next` gave. */
  async markMoved(through: number): Promise<void> {
    const segment = this.#moving;
    segment?.markMoved(through);
    if (segment?.isOwn) this.#movedSeq = Math.max(this.#movedSeq, through);
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
    await this.#unfinished[Symbol.asyncDispose]();
    await this.#slot[Symbol.asyncDispose]();
  }

  #create(): JournalSegment {
    return JournalSegment.create(this.#slot.nextPath(), (error) =>
      this.#complain('spends could not be written to the journal', { err: error }),
    );
  }

  #rotate(): void {
    try {
      const next = this.#create();
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
