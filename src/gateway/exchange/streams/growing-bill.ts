const everyMs = 5_000;

/**
 * Has kept what a stream took so far: after 5 s, and whenever it is half as old again, so that looking
 * through an answer again and again costs little more than doing so once.
 */
export class GrowingBill implements Disposable {
  readonly #keep: () => void;
  readonly #beganAt = performance.now();
  #timer: NodeJS.Timeout;

  constructor(keep: () => void) {
    this.#keep = keep;
    this.#timer = this.#later();
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }

  #later(): NodeJS.Timeout {
    const delayMs = Math.max(everyMs, (performance.now() - this.#beganAt) / 2);
    const tick = () => {
      this.#keep();
      this.#timer = this.#later();
    };
    return setTimeout(tick, delayMs).unref();
  }
}
