import { Fault } from '../errors.ts';

interface Waiter {
  readonly isExclusive: boolean;
  readonly admit: () => void;
}

/**
 * Orders the users of one connection, first come first served: any number may pass one after
 * another, or one may hold it alone. Who waits longer than `waitMaxMs` gets a Fault `deadline`,
 * because a statement awaited inside another's transaction would otherwise wait for itself.
 */
export class Turnstile {
  readonly #waitMaxMs: number;
  readonly #waiters: Waiter[] = [];
  #isHeld = false;

  constructor(waitMaxMs: number) {
    this.#waitMaxMs = waitMaxMs;
  }

  /** True when `pass` would return at once, so that a caller can save the promise. */
  get isOpen(): boolean {
    return !this.#isHeld && this.#waiters.length === 0;
  }

  /** Resolves when nobody holds the turnstile and everybody who came before was served. */
  async pass(): Promise<void> {
    if (!this.isOpen) await this.#wait(false);
  }

  /** Resolves when the caller holds the turnstile alone; the caller owes one `release`. */
  async hold(): Promise<void> {
    if (this.isOpen) this.#isHeld = true;
    else await this.#wait(true);
  }

  /** Ends a `hold` and admits the next in line. */
  release(): void {
    this.#isHeld = false;
    while (!this.#isHeld) {
      const next = this.#waiters.shift();
      if (!next) return;
      this.#isHeld = next.isExclusive;
      next.admit();
    }
  }

  #wait(isExclusive: boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiters.splice(this.#waiters.indexOf(waiter), 1);
        const seconds = this.#waitMaxMs / 1000;
        reject(new Fault('deadline', `a transaction held the database for more than ${seconds} s`));
      }, this.#waitMaxMs);
      const admit = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const waiter: Waiter = { isExclusive, admit };
      this.#waiters.push(waiter);
    });
  }
}
