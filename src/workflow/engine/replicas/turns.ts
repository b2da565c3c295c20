/**
 * Milliseconds of one turn of the event loop that executions take; the rest of the process waits no longer. What
 * they say in one turn is stored by one statement: with 5 the items of a batch cost a third more.
 */
const shareMs = 20;

/**
 * The share that all executions of this process together have of each turn of the event loop. Nodes that
 * only compute go on without ever waiting for anything outside, and would let nothing else have a turn.
 */
export class Turns {
  readonly #waiting: (() => void)[] = [];
  #isOpen = false;
  #endMs = 0;

  /** Whether the share of this turn is used up; then what is left to do is for `later`. */
  get isUp(): boolean {
    if (!this.#isOpen) this.#open();
    return performance.now() >= this.#endMs;
  }

  /** Calls back in a later turn, after those that asked before. */
  later(goOn: () => void): void {
    this.#waiting.push(goOn);
    if (!this.#isOpen) this.#open();
  }

  #open(): void {
    this.#isOpen = true;
    this.#endMs = performance.now() + shareMs;
    setImmediate(() => this.#next());
  }

  #next(): void {
    this.#isOpen = false;
    if (this.#waiting.length === 0) return;
    this.#open();
    do this.#waiting.shift()?.();
    while (this.#waiting.length > 0 && !this.isUp);
  }
}
