import { statSync } from 'node:fs';
import { readFile, unlink } from 'node:fs/promises';
import { newId } from '../../kit/ids.ts';
import { JournalFile } from './journal-file.ts';
import { readLine, writeLine, type SpendEntry } from './spend-entry.ts';

/** The oldest entries that were not moved. */
export interface JournalBatch {
  /** Names for ever what the entries were appended to: the database knows how far each was moved. */
  readonly run: string;
  /** The last entry of the run that is believed to be in the database; -1 before any. */
  readonly after: number;
  readonly entries: readonly SpendEntry[];
}

interface ReadJournal {
  readonly run: string;
  readonly entries: SpendEntry[];
}

/** Entries that may be in memory without being in the file. */
const unwrittenMax = 20_000;
/** The first line of a file is `["ennead-spends",1,run]`. */
const format = 'ennead-spends';
const version = 1;

/** One file of the journal. Written by one process at a time, in whole lines. */
export class JournalSegment {
  readonly path: string;
  /** Written by this process. */
  readonly isOwn: boolean;
  #run: string;
  /** Open for appending. */
  #file: JournalFile | undefined;
  #sealedBytes = 0;
  /** Undefined while the entries are only in the file. */
  #entries: SpendEntry[] | undefined;
  /** How many of `#entries` are in the database. */
  #moved = 0;
  #through = -1;

  private constructor(path: string, run?: string) {
    this.path = path;
    this.isOwn = run !== undefined;
    this.#run = run ?? '';
  }

  /** A new file, for appending; `onFailure` hears of lines that could not be written. */
  static create(path: string, onFailure: (error: unknown) => void): JournalSegment {
    const run = newId('run');
    const segment = new JournalSegment(path, run);
    segment.#file = new JournalFile(path, { head: journalHead(run), onFailure });
    segment.#entries = [];
    return segment;
  }

  /** A file that another process wrote; nothing is appended to it. */
  static adopt(path: string): JournalSegment {
    const segment = new JournalSegment(path);
    segment.#sealedBytes = statSync(path).size;
    return segment;
  }

  get bytes(): number {
    return this.#file?.bytes ?? this.#sealedBytes;
  }

  get isSealed(): boolean {
    return this.#file === undefined;
  }

  /** The disk takes nothing, and memory has as much as it may. */
  get isFull(): boolean {
    if (!this.#file || this.#file.isWhole) return false;
    return (this.#entries?.length ?? 0) - this.#moved >= unwrittenMax;
  }

  /** All that it holds was moved, as far as is known without reading the file. */
  get isEmpty(): boolean {
    return this.#entries !== undefined && this.#moved >= this.#entries.length;
  }

  /** Resolves when the operating system has the entry, or will not take it: see `onFailure`. */
  append(entry: SpendEntry): Promise<void> {
    if (!this.#file) throw new RangeError('the journal’s file is sealed');
    this.#entries?.push(entry);
    return this.#file.append(writeLine(entry));
  }

  /** No more is appended. With `isSpilled` the entries leave memory until they are asked for. */
  seal({ isSpilled }: { readonly isSpilled: boolean }): void {
    const file = this.#file;
    if (!file) return;
    file.close();
    this.#sealedBytes = file.bytes;
    this.#file = undefined;
    if (isSpilled && file.isWhole) this.#entries = undefined;
  }

  /** Undefined when all was moved; rejects when the file cannot be read. */
  async next(max: number): Promise<JournalBatch | undefined> {
    // Nothing may count that could still be written down, and be counted, later.
    this.#file?.flush();
    const all = (this.#entries ??= await this.#read());
    const entries = all.slice(this.#moved, this.#moved + max);
    if (entries.length === 0) return undefined;
    return { run: this.#run, after: this.#through, entries };
  }

  /**
   * Says through which entry the database has the run. A file of nothing else is emptied.
   */
  markMoved(through: number): void {
    const entries = this.#entries ?? [];
    this.#through = through;
    while ((entries[this.#moved]?.seq ?? Number.POSITIVE_INFINITY) <= through) this.#moved += 1;
    if (this.isEmpty && this.#file) this.#empty(this.#file);
  }

  async remove(): Promise<void> {
    this.seal({ isSpilled: false });
    await unlink(this.path);
  }

  #empty(file: JournalFile): void {
    // Nothing can be appended in between: all of this is synchronous.
    file.empty();
    this.#entries = [];
    this.#moved = 0;
  }

  async #read(): Promise<SpendEntry[]> {
    const { run, entries } = readJournal(await readFile(this.path, 'utf8'));
    this.#run = run;
    this.#moved = 0;
    return entries.filter(({ seq }) => seq > this.#through);
  }
}

/** The first line of a file whose entries are those of the run. */
export function journalHead(run: string): string {
  return JSON.stringify([format, version, run]);
}

/** Leaves out lines that tore, and what is not in ascending order: it was written twice. */
function readJournal(text: string): ReadJournal {
  const entries: SpendEntry[] = [];
  let run = '';
  let last = -1;
  for (const line of text.split('\n')) {
    if (line.startsWith(`["${format}"`)) run = readHead(line) ?? run;
    const entry = run === '' ? undefined : readLine(line);
    if (!entry || entry.seq <= last) continue;
    entries.push(entry);
    last = entry.seq;
  }
  return { run, entries };
}

/** Undefined for a line that tore; throws for what a later version wrote. */
function readHead(line: string): string | undefined {
  let head: unknown;
  try {
    head = JSON.parse(line);
  } catch {
    return undefined;
  }
  const [, written, run] = head as readonly unknown[];
  if (written !== version) throw new Error(`the journal is of version ${String(written)}`);
  return typeof run === 'string' ? run : undefined;
}
