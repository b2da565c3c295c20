const keptMs = 5_000;

/** Asks whether a runtime can be used, at most once in five seconds; who asks meanwhile waits along. */
export class Availability {
  readonly #ask: () => Promise<string | undefined>;
  #answer: Promise<string | undefined> | undefined;
  #askedAtMs = 0;

  /** `ask` resolves with what is missing, or undefined; it does not reject. */
  constructor(ask: () => Promise<string | undefined>) {
    this.#ask = ask;
  }

  missing(): Promise<string | undefined> {
    const nowMs = performance.now();
    if (this.#answer === undefined || nowMs - this.#askedAtMs > keptMs) {
      this.#askedAtMs = nowMs;
      this.#answer = this.#ask();
    }
    return this.#answer;
  }

  /** Asks anew at the next question, after something failed. */
  forget(): void {
    this.#answer = undefined;
  }
}
