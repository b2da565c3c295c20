import { parseEvents } from '../../kit/answers/sse.ts';
import { withoutByteOrderMark } from './byte-order-mark.ts';

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/** How pieces of a stream are kept apart. */
export type Framing = 'events' | 'lines';

const pieceBytesMax = 4 * 1024 * 1024;

/**
 * Cuts a stream of bytes behind its last whole event or line, so that what is passed on never ends
 * within one. A byte-order mark in front of all is left out, as readers do (WHATWG HTML, section
 * 9.2.6). Throws RangeError when one event exceeds 4 MiB.
 */
export class EventCutter {
  readonly #endOf: (bytes: Buffer) => number;
  #rest: Buffer | undefined;
  #hasBegun = false;

  constructor(framing: Framing) {
    this.#endOf = framing === 'events' ? endOfEvents : endOfLines;
  }

  /** The whole events there are now; undefined when there is none yet. */
  push(chunk: Buffer): Buffer | undefined {
    const bytes = this.#rest ? Buffer.concat([this.#rest, chunk]) : chunk;
    const end = this.#endOf(bytes);
    if (end === bytes.length) {
      this.#rest = undefined;
      return this.#begin(bytes);
    }
    this.#rest = end === 0 ? bytes : bytes.subarray(end);
    if (this.#rest.length > pieceBytesMax) throw new RangeError('an event exceeds 4 MiB');
    return end === 0 ? undefined : this.#begin(bytes.subarray(0, end));
  }

  /** What came behind the last whole event: all of it, once the stream has ended. */
  rest(): Buffer | undefined {
    return this.#rest && this.#begin(this.#rest);
  }

  #begin(bytes: Buffer): Buffer {
    if (this.#hasBegun) return bytes;
    this.#hasBegun = true;
    return withoutByteOrderMark(bytes);
  }
}

/** Behind the last blank line; events end with LF LF, CR LF CR LF or, in theory, CR CR. */
function endOfEvents(bytes: Buffer): number {
  for (let at = bytes.length - 1; at > 0; at -= 1) {
    const char = bytes[at];
    if (char !== lineFeed && char !== carriageReturn) {
      // Most bytes are text: go on at the line break before.
      at = Math.max(bytes.lastIndexOf(lineFeed, at), bytes.lastIndexOf(carriageReturn, at)) + 1;
      continue;
    }
    if (isBlankLineBehind(bytes, at)) return at + 1;
  }
  return 0;
}

function isBlankLineBehind(bytes: Buffer, at: number): boolean {
  const [char, before] = [bytes[at], bytes[at - 1]];
  if (char === before) return true;
  return char === lineFeed && before === carriageReturn && bytes[at - 2] === lineFeed;
}

function endOfLines(bytes: Buffer): number {
  return bytes.lastIndexOf(lineFeed) + 1;
}

/** Whether what stands behind the last whole event is one too, but for its end. */
export function isWhole(rest: Buffer, framing: Framing): boolean {
  const text = rest.toString();
  const data = framing === 'lines' ? [text] : parseEvents(text).map((event) => event.data);
  return data.every((one) => one === '[DONE]' || isJsonText(one));
}

function isJsonText(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
