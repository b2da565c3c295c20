import { Fault } from '../../kit/errors.ts';

const newline = 0x0a;

/** Cuts a stream of bytes into lines, which may arrive in any pieces. */
export class LineSplitter {
  readonly #maxBytes: number;
  #parts: Buffer[] = [];
  #size = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /**
   * The lines that the chunk completes, without their ends. Throws Fault `upstream`
   * (`answer_too_large`) as soon as a line is longer than allowed, before it is complete.
   */
  *push(chunk: Buffer): Generator<Buffer> {
    let from = 0;
    for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, from)) {
      yield this.#take(chunk.subarray(from, at));
      from = at + 1;
    }
    if (from < chunk.length) this.#keep(chunk.subarray(from));
  }

  #take(last: Buffer): Buffer {
    this.#keep(last);
    const line = this.#parts.length === 1 ? last : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#size = 0;
    return line;
  }

  #keep(part: Buffer): void {
    this.#parts.push(part);
    this.#size += part.length;
    if (this.#size <= this.#maxBytes) return;
    this.#parts = [];
    this.#size = 0;
    throw new Fault('upstream', 'the server sent a message that is too large', {
      reason: 'answer_too_large',
      detail: { maxBytes: this.#maxBytes },
    });
  }
}
