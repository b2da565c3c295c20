/** Numbers that look random and are the same for the same seed (mulberry32). */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0 up to, and without, 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    const mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    const more = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((more ^ (more >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** A whole number from 0 up to, and without, the limit. */
  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  /** Of the standard normal distribution. */
  gauss(): number {
    return Math.sqrt(-2 * Math.log(this.next() + 1e-12)) * Math.cos(2 * Math.PI * this.next());
  }

  /** So many hexadecimal digits, a multiple of eight. */
  hex(digits: number): string {
    let text = '';
    while (text.length < digits) {
      text += this.below(4_294_967_296).toString(16).padStart(8, '0');
    }
    return text;
  }
}
