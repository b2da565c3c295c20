import { newId } from '../../kit/ids.ts';

const prefix = 'con';
const countMax = 0xfff;
const randomDigits = 16;

/**
 * Makes identifiers of connections, which sort in the order in which they are made: within a millisecond, or
 * while the clock is behind, by a counter (RFC 9562, section 6.2, method 1).
 */
export class ConnectionIds {
  readonly #now: () => number;
  #timeMs = 0;
  #count = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  next(): string {
    const now = this.#now();
    if (now > this.#timeMs) this.#begin(now);
    else if (this.#count === countMax) this.#begin(this.#timeMs + 1);
    else this.#count += 1;
    const time = this.#timeMs.toString(16).padStart(12, '0');
    const count = this.#count.toString(16).padStart(3, '0');
    return `${prefix}_${time}7${count}${newId(prefix).slice(-randomDigits)}`;
  }

  #begin(timeMs: number): void {
    this.#timeMs = timeMs;
    this.#count = 0;
  }
}
