import { closeSync, fstatSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { readFile, unlink } from 'node:fs/promises';
import { newId } from '../../kit/ids.ts';
import { readLine, writeLine, type SpendEntry } from './spend-entry.ts';

/** Entries that may be in memory without being in the file. */
const unwrittenMax = 20_000;

/** One file of the journal. Written by one process at a time, in whole lines. */
export class JournalSegment {
  /** Names what is appended here for ever: the database remembers how far each run was moved. */
  readonly run = newId('run');
  readonly path: string;
  /** Written by this process. */
  readonly isOwn: boolean;
  bytes: number;
  #file: number | undefined;
  /** Undefined while the entries are only in the file. */
  #entries: SpendEntry[] | undefined;
  #moved = 0;
  /** Whether the file says all that `#entries` does. */
  #isWhole = true;
  #isTorn = false;

  private constructor(path: string, { file, bytes }: { file: number | undefined; bytes: number }) {
    this.path = path;
    this.bytes = bytes;
    this.#file = file;
    this.isOwn = file !== undefined;
    if (file !== undefined) this.#entries = [];
  }

  /** A new file, for appending. */
  static create(path: string): JournalSegment {
    return new JournalSegment(path, { file: openSync(path, 'ax', 0o600), bytes: 0 });
  }

  /** A file that another process wrote; nothing is appended to it. */
  static adopt(path: string): JournalSegment {
    const file = openSync(path, 'r');
    try {
      return new JournalSegment(path, { file: undefined, bytes: fstatSync(file).size });
    } finally {
      closeSync(file);
    }
  }

  get isSealed(): boolean {
    return this.#file === undefined;
  }

  /** The disk takes nothing, and memory has as much as it may. */
  get isFull(): boolean {
    return !this.#isWhole && (this.#entries?.length ?? 0) - this.#moved >= unwrittenMax;
  }

  /** All that it holds was moved, as far as is known without reading the file. */
  get isEmpty(): boolean {
    return this.#entries !== undefined && this.#moved >= this.#entries.length;
  }

  /**
   * With one write; the operating system has it then, whatever becomes of this process. Throws when
   * that failed: the entry is then in memory only.
   */
  append(entry: SpendEntry): void {
    this.#entries?.push(entry);
    // A line that tore, when the disk was full, must not take this one with it.
    const line = this.#isTorn ? `\n${writeLine(entry)}` : writeLine(entry);
    const length = Buffer.byteLength(line);
    let written = 0;
    try {
      if (this.#file !== undefined) written = writeSync(this.#file, line);
    } finally {
      this.bytes += written;
      this.#isTorn = written < length && (written > 0 || this.#isTorn);
      if (written < length) this.#isWhole = false;
    }
    if (written < length) throw new Error('the disk took a part of an entry only');
  }

  /** No more is appended. With `isSpilled` the entries leave memory until they are asked for. */
  seal({ isSpilled }: { readonly isSpilled: boolean }): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
    if (isSpilled && this.#isWhole) this.#entries = undefined;
  }

  /** The oldest entries that were not moved, of one run. */
  async next(max: number): Promise<SpendEntry[]> {
    this.#entries ??= await readEntries(this.path);
    const first = this.#entries[this.#moved];
    const entries = this.#entries.slice(this.#moved, this.#moved + max);
    const end = entries.findIndex(({ run }) => run !== first?.run);
    return end < 0 ? entries : entries.slice(0, end);
  }

  /**
   * Says that so many more of the oldest entries are in the database, and answers the `seq` of the
   * last of them. A file of nothing else is emptied.
   */
  markMoved(count: number): number | undefined {
    this.#moved += count;
    const last = this.#entries?.[this.#moved - 1]?.seq;
    if (this.isEmpty && this.#file !== undefined) this.#empty(this.#file);
    return last;
  }

  async remove(): Promise<void> {
    this.seal({ isSpilled: false });
    await unlink(this.path);
  }

  #empty(file: number): void {
    // Nothing can be appended in between: all of this is synchronous.
    ftruncateSync(file, 0);
    this.#entries = [];
    this.#moved = 0;
    this.bytes = 0;
    this.#isWhole = true;
    this.#isTorn = false;
  }
}

async function readEntries(path: string): Promise<SpendEntry[]> {
  const lines = (await readFile(path, 'utf8')).split('\n');
  const entries: SpendEntry[] = [];
  for (const line of lines) {
    const entry = line === '' ? undefined : readLine(line);
    if (entry) entries.push(entry);
  }
  return entries;
}
