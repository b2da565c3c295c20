/**
 * An exponentially weighted moving average over time: a value weighs half as much after `halfLifeMs`.
 * Undefined before the first value.
 */
export class MovingAverage {
  readonly #halfLifeMs: number;
  #value: number | undefined;
  #at = 0;

  constructor(halfLifeMs: number) {
    this.#halfLifeMs = halfLifeMs;
  }

  get value(): number | undefined {
    return this.#value;
  }

  add(value: number, now: number): void {
    if (this.#value === undefined) {
      this.#value = value;
    } else {
      // Values that come at once still count: each takes at least a tenth.
      const share = Math.max(0.1, 1 - 2 ** (-(now - this.#at) / this.#halfLifeMs));
      this.#value += (value - this.#value) * share;
    }
    this.#at = now;
  }
}
