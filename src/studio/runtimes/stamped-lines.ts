/** A line of a log that the runtime has put a time before. */
export interface StampedLine {
  /** Unix nanoseconds. */
  readonly atNanos: bigint;
  /** Some runtimes tell whole seconds only. */
  readonly isExact: boolean;
  readonly text: string;
}

const stampPattern = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d) ?/;
const secondNanos = 1_000_000_000n;

/** Undefined when there is no time before it. */
export function readStamp(line: string): StampedLine | undefined {
  const [stamp, seconds, fraction = '', zone] = stampPattern.exec(line) ?? [];
  if (stamp === undefined) return undefined;
  const ms = Date.parse(`${seconds}${zone}`);
  const atNanos = BigInt(ms) * 1_000_000n + BigInt(fraction.padEnd(9, '0'));
  return { atNanos, isExact: fraction !== '', text: line.slice(stamp.length) };
}

/**
 * Tells lines of a log that is read anew after breaks: none of them twice, also where many have the
 * same time.
 */
export class StampedLines {
  #lastNanos: bigint;
  /** Lines with the last time that were told. */
  #count = 0;
  #startNanos: bigint;
  #toSkip = 0;

  constructor(afterMs: number) {
    this.#lastNanos = BigInt(Math.floor(afterMs)) * 1_000_000n;
    this.#startNanos = this.#lastNanos;
  }

  /** Begins to read anew; gives from when, Unix seconds. */
  begin(): number {
    this.#startNanos = this.#lastNanos;
    this.#toSkip = this.#count;
    return Number(this.#lastNanos / secondNanos);
  }

  /** The text of a line that was not told yet. */
  take(line: string): string | undefined {
    const stamped = readStamp(line);
    if (!stamped) return line;
    const { atNanos, isExact, text } = stamped;
    const start = isExact ? this.#startNanos : this.#startNanos - (this.#startNanos % secondNanos);
    if (atNanos < start) return undefined;
    if (atNanos === start && this.#toSkip > 0) {
      this.#toSkip -= 1;
      return undefined;
    }
    this.#note(atNanos);
    return text;
  }

  #note(atNanos: bigint): void {
    if (atNanos > this.#lastNanos) {
      this.#lastNanos = atNanos;
      this.#count = 0;
    }
    if (atNanos === this.#lastNanos) this.#count += 1;
  }
}
