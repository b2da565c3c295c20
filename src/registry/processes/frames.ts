import type { RequestId } from '@modelcontextprotocol/client';
import { Fault } from '../../kit/errors.ts';

const newline = 0x0a;
/** Of a line that is passed over. */
const endBytes = 256;
/** Past so many times the bound nobody waits for the end of a line any more. */
const passedOverTimes = 16;

/** What is kept of a line that was longer than allowed. */
export interface LongLine {
  readonly head: Buffer;
  readonly tail: Buffer;
}

/** Cuts a stream of bytes into lines, which may arrive in any pieces. */
export class LineSplitter {
  readonly #maxBytes: number;
  #parts: Buffer[] = [];
  #size = 0;
  #long: LongLine | undefined;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /**
   * The lines that the chunk completes, without their ends; of one that is longer than allowed its first
   * and last bytes. Throws Fault `upstream` (`answer_too_large`) at 16 times the bound.
   */
  *push(chunk: Buffer): Generator<Buffer | LongLine> {
    let from = 0;
    for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, from)) {
      yield this.#take(chunk.subarray(from, at));
      from = at + 1;
    }
    if (from < chunk.length) this.#keep(chunk.subarray(from));
  }

  #take(last: Buffer): Buffer | LongLine {
    this.#keep(last);
    const line = this.#parts.length === 1 ? last : Buffer.concat(this.#parts);
    const long = this.#long;
    this.#clear();
    return long ?? line;
  }

  #keep(part: Buffer): void {
    this.#size += part.length;
    if (this.#size > this.#maxBytes) return this.#passOver(part);
    this.#parts.push(part);
  }

  #passOver(part: Buffer): void {
    if (this.#size > this.#maxBytes * passedOverTimes) {
      this.#clear();
      throw lineTooLong(this.#maxBytes);
    }
    const { head, tail } = this.#long ?? endsOf(this.#parts.splice(0));
    this.#long = {
      head: head.length < endBytes ? endsOf([head, part]).head : head,
      tail: endsOf([tail, part]).tail,
    };
  }

  #clear(): void {
    this.#parts = [];
    this.#size = 0;
    this.#long = undefined;
  }
}

/** Copies, so that the whole is not kept in memory for them. */
function endsOf(parts: readonly Buffer[]): LongLine {
  const whole = Buffer.concat(parts);
  return {
    head: Buffer.from(whole.subarray(0, endBytes)),
    tail: Buffer.from(whole.subarray(-endBytes)),
  };
}

export function lineTooLong(maxBytes: number): Fault {
  return new Fault('upstream', 'the server sent a message that is too large', {
    reason: 'answer_too_large',
    detail: { maxBytes },
  });
}

const version = String.raw`"jsonrpc"\s*:\s*"2\.0"`;
const idMember = String.raw`"id"\s*:\s*(\d{1,15}|"[^"\\]{1,100}")`;
const atStart = new RegExp(String.raw`^\s*\{\s*(?:${version}\s*,\s*)?${idMember}\s*[,}]`);
const atEnd = new RegExp(String.raw`,\s*${idMember}\s*(?:,\s*${version}\s*)?\}\s*$`);

/**
 * The id of the message, where it is the first or the last of its members beside the version, as all known
 * servers write it. What ends with one brace after the id ends the message itself.
 */
export function idOfLongLine({ head, tail }: LongLine): RequestId | undefined {
  const [, id] = atStart.exec(head.toString()) ?? atEnd.exec(tail.toString()) ?? [];
  if (id === undefined) return undefined;
  return id.startsWith('"') ? id.slice(1, -1) : Number(id);
}
