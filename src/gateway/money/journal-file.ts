import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs';

export interface JournalFileOptions {
  /** The file's first line, without a line feed. */
  readonly head: string;
  /** Called when lines could not be written; they are in nobody's hands then. */
  readonly onFailure: (error: unknown) => void;
}

/**
 * A new file that lines are appended to: those of one turn of the event loop with one write, at the
 * turn's end.
 */
export class JournalFile {
  readonly #file: number;
  readonly #options: JournalFileOptions;
  #writtenBytes = 0;
  /** Lines that wait for the end of the turn. */
  #waiting = '';
  #turn: Promise<void> | undefined;
  #endTurn: (() => void) | undefined;
  #isWhole = true;
  #isTorn = false;

  /** Throws when there is such a file, or the disk takes none. */
  constructor(path: string, options: JournalFileOptions) {
    this.#file = openSync(path, 'ax', 0o600);
    this.#options = options;
  }

  /** What was written and what waits, roughly. */
  get bytes(): number {
    return this.#writtenBytes + this.#waiting.length;
  }

  /** Whether nothing that was appended failed to be written. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /**
   * Resolves when the operating system has the line, whatever becomes of this process then; or when
   * it was found not to take it. Never rejects.
   */
  append(line: string): Promise<void> {
    this.#waiting += `${line}\n`;
    this.#turn ??= this.#beginTurn();
    return this.#turn;
  }

  /** Writes what waits now. */
  flush(): void {
    const lines = this.#waiting;
    if (lines === '') return;
    const endTurn = this.#endTurn;
    this.#waiting = '';
    this.#turn = undefined;
    this.#endTurn = undefined;
    try {
      this.#write(lines);
    } catch (error) {
      this.#options.onFailure(error);
    } finally {
      endTurn?.();
    }
  }

  /** Forgets all lines. */
  empty(): void {
    this.flush();
    ftruncateSync(this.#file, 0);
    this.#writtenBytes = 0;
    this.#isWhole = true;
    this.#isTorn = false;
  }

  /** Nothing may be appended afterwards. */
  close(): void {
    this.flush();
    closeSync(this.#file);
  }

  #beginTurn(): Promise<void> {
    // At the end of the turn, not of the callback: answers that arrive together, each with a callback
    // of its own, share the write.
    setImmediate(() => this.flush());
    return new Promise((resolve) => {
      this.#endTurn = resolve;
    });
  }

  #write(lines: string): void {
    const text = this.#lead() + lines;
    const length = Buffer.byteLength(text);
    let written = 0;
    try {
      written = writeSync(this.#file, text);
    } finally {
      this.#writtenBytes += written;
      this.#isTorn = written < length && (written > 0 || this.#isTorn);
      if (written < length) this.#isWhole = false;
    }
    if (written < length) throw new Error('the disk took a part of the lines only');
  }

  /** A line that tore, when the disk was full, must not take the next one with it, nor be the head. */
  #lead(): string {
    if (this.#isTorn) return `\n${this.#options.head}\n`;
    return this.#writtenBytes === 0 ? `${this.#options.head}\n` : '';
  }
}
