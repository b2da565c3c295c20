import { closeSync, openSync, writeSync } from 'node:fs';
import { readFile, unlink, writeFile } from 'node:fs/promises';
import { newId } from '../../kit/ids.ts';
import { journalHead } from './journal-segment.ts';
import { readLine, writeLine, type SpendEntry } from './spend-entry.ts';

/** Where in the file a request has its place. */
export type KeptPlace = number;

/** More than any entry has, however its names are escaped. */
const placeBytes = 8_192;
const placesMax = 4_096;
const lineFeed = 0x0a;

/**
 * What requests took that are not answered to their end, in a file that the next process counts if
 * this one dies. Each has a place there, written over as the answer grows and cleared at its end.
 */
export class UnfinishedSpends {
  readonly #path: string;
  readonly #onFailure: (error: unknown) => void;
  readonly #free: KeptPlace[] = [];
  #file: number | undefined;
  #placeCount = 0;

  constructor(path: string, onFailure: (error: unknown) => void) {
    this.#path = path;
    this.#onFailure = onFailure;
  }

  /** In the place that it has, else in a new one; undefined when there is none left, or no disk. */
  write(entry: SpendEntry, kept?: KeptPlace): KeptPlace | undefined {
    const place = kept ?? this.#newPlace();
    if (place === undefined) return undefined;
    try {
      this.#put(`${writeLine(entry)}\n`, place);
    } catch (error) {
      this.#onFailure(error);
    }
    return place;
  }

  /** Nothing of it counts for whoever reads the file next. */
  clear(place: KeptPlace): void {
    try {
      this.#put('\n', place);
      this.#free.push(place);
    } catch (error) {
      this.#onFailure(error);
    }
  }

  /** What was not taken back until then stays for the next process. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#file === undefined) return;
    closeSync(this.#file);
    this.#file = undefined;
    if (this.#free.length === this.#placeCount) await unlink(this.#path);
  }

  #newPlace(): KeptPlace | undefined {
    const free = this.#free.pop();
    if (free !== undefined || this.#placeCount >= placesMax) return free;
    this.#placeCount += 1;
    return this.#placeCount;
  }

  #put(line: string, place: KeptPlace): void {
    this.#file ??= this.#create();
    writeSync(this.#file, line, place * placeBytes);
  }

  #create(): number {
    const file = openSync(this.#path, 'wx', 0o600);
    writeSync(file, `${journalHead(newId('run'))}\n`, 0);
    return file;
  }
}

/**
 * Makes the file of a dead process, if there is one, a journal at the path. Doing so again after a
 * crash in between counts nothing twice: it is the same run.
 */
export async function toJournal(unfinished: string, journalPath: () => string): Promise<string[]> {
  const bytes = await readFile(unfinished).catch(ignoreAbsence);
  if (!bytes) return [];
  const [head = '', ...lines] = linesOf(bytes);
  const entries = lines.flatMap((line, index) => {
    const entry = readLine(line);
    return entry ? [writeLine({ ...entry, seq: index + 1 })] : [];
  });
  const paths = entries.length > 0 ? [journalPath()] : [];
  const text = `${[head, ...entries].join('\n')}\n`;
  for (const path of paths) await writeFile(path, text, { flag: 'wx', mode: 0o600 });
  await unlink(unfinished);
  return paths;
}

/** The line at the beginning of each place. */
function linesOf(bytes: Buffer): string[] {
  const count = Math.ceil(bytes.length / placeBytes);
  return Array.from({ length: count }, (_, place) => {
    const start = place * placeBytes;
    const end = bytes.indexOf(lineFeed, start);
    return end === -1 ? '' : bytes.toString('utf8', start, end);
  });
}

function ignoreAbsence(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
  throw error;
}
