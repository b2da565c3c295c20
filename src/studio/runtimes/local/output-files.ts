import {
  closeSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  readSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { LineCutter } from '../line-cutter.ts';

const streams = ['stdout', 'stderr'] as const;
export type Stream = (typeof streams)[number];

export interface OutputLine {
  readonly stream: Stream;
  readonly text: string;
}

/**
 * What a program prints, in files of its folder. A pipe would break when the studio dies and end the
 * program with it; files are there for the next life of the studio, which goes on reading. They are
 * emptied when they were read and are larger than a bound, so they grow while nobody reads.
 */
export class OutputFiles {
  readonly #tails: readonly FileTail[];
  readonly #positionFile: string;

  /** In a folder that is there; of an earlier life what was not read yet is read. */
  constructor(folder: string) {
    this.#positionFile = join(folder, 'read');
    const positions = readPositions(this.#positionFile);
    this.#tails = streams.map((name, at) => new FileTail(join(folder, name), name, positions[at]));
  }

  /** For the program to write to; they are closed by `closeTargets`. */
  openTargets(): readonly [stdout: number, stderr: number] {
    const [out, error] = this.#tails.map(({ path }) => openSync(path, 'a', 0o600));
    if (out === undefined || error === undefined) throw new Error('there are two streams');
    return [out, error];
  }

  closeTargets(targets: readonly number[]): void {
    for (const target of targets) closeSync(target);
  }

  /** Lines that have come since the last call. */
  read(): OutputLine[] {
    const lines = this.#tails.flatMap((tail) => tail.read());
    if (this.#tails.some((tail) => tail.hasMoved)) {
      writeFileSync(this.#positionFile, this.#tails.map(({ position }) => position).join(' '));
    }
    return lines;
  }

  /** All that is left, also what no line break ends; nothing can be read later. */
  close(): OutputLine[] {
    return this.#tails.flatMap((tail) => tail.close());
  }
}

function readPositions(file: string): number[] {
  try {
    return readFileSync(file, 'utf8').split(' ').map(Number);
  } catch {
    return [];
  }
}

const chunkBytes = 256 * 1024;
const keptBytes = 1024 * 1024;
/** A program that prints faster than it is read loses what is older. */
const behindBytesMax = 8 * 1024 * 1024;

/** Reads are synchronous: so little time is between the end of a file and its emptying. */
class FileTail {
  readonly path: string;
  readonly #stream: Stream;
  readonly #file: number;
  readonly #cutter = new LineCutter();
  #position: number;
  #noted: number;

  constructor(path: string, stream: Stream, position = 0) {
    this.path = path;
    this.#stream = stream;
    this.#file = openSync(path, 'a+', 0o600);
    this.#position = position <= fstatSync(this.#file).size ? position : 0;
    this.#noted = this.#position;
  }

  /** Of the first byte that no told line holds. */
  get position(): number {
    return Math.max(0, this.#position - this.#cutter.pendingBytes);
  }

  /** Whether the position is another than at the last question. */
  get hasMoved(): boolean {
    const { position } = this;
    const hasMoved = position !== this.#noted;
    this.#noted = position;
    return hasMoved;
  }

  read(): OutputLine[] {
    const { size } = fstatSync(this.#file);
    if (size <= this.#position) return [];
    const lines = size - this.#position > behindBytesMax ? this.#skipTo(size - chunkBytes) : [];
    const buffer = Buffer.allocUnsafe(Math.min(size - this.#position, chunkBytes));
    const count = readSync(this.#file, buffer, 0, buffer.length, this.#position);
    this.#position += count;
    lines.push(...this.#cutter.push(buffer.subarray(0, count)));
    if (this.#position >= keptBytes && fstatSync(this.#file).size === this.#position) this.#empty();
    return lines.map((text) => this.#asLine(text));
  }

  close(): OutputLine[] {
    const lines: OutputLine[] = [];
    while (fstatSync(this.#file).size > this.#position) lines.push(...this.read());
    closeSync(this.#file);
    return [...lines, ...this.#cutter.end().map((text) => this.#asLine(text))];
  }

  #skipTo(position: number): string[] {
    const left = position - this.#position;
    const rest = this.#cutter.end();
    this.#position = position;
    return [...rest, `… ${left} bytes of output are left out: they came faster than they are read`];
  }

  #empty(): void {
    ftruncateSync(this.#file, 0);
    this.#position = 0;
  }

  #asLine(text: string): OutputLine {
    return { stream: this.#stream, text };
  }
}
