import { Cancellation } from '../../../kit/cancellation.ts';
import { Fault } from '../../../kit/errors.ts';
import { settler } from '../../upstream/settler.ts';

/** Tries once; undefined where it is of no use, and somebody else may be asked. */
export type Run<T> = (cancellation: Cancellation) => Promise<T | undefined>;

/**
 * Attempts at the same answer at the same time. The first that has one lets the others go, and so does
 * the first that was begun when it says that nobody else is to be asked; where another says so, it
 * counts only once all others were of no use.
 */
export class Race<T> {
  readonly #caller: Cancellation;
  readonly #onSurplus: (value: T) => void;
  readonly #running = new Map<number, Cancellation>();
  readonly #result = settler<T | undefined>();
  #started = 0;
  #refusal: { readonly error: unknown } | undefined;
  #isOver = false;

  /** `onSurplus` is given answers that came in spite of all when another was there already. */
  constructor(caller: Cancellation, onSurplus: (value: T) => void) {
    this.#caller = caller;
    this.#onSurplus = onSurplus;
  }

  /** What the first brought, undefined where all were of no use. */
  get result(): Promise<T | undefined> {
    return this.#result.promise;
  }

  start(run: Run<T>): void {
    const at = this.#started;
    this.#started += 1;
    const own = new Cancellation();
    // Also behind its end: an answer may go on to come in.
    this.#caller.onCancel(() => own.cancel(this.#caller.reason ?? overtaken()));
    this.#running.set(at, own);
    run(own).then(
      (value) => this.#take(value, at),
      (error: unknown) => this.#refuse(error, at),
    );
  }

  /** Whether it still goes on after that time. */
  async goesOnFor(ms: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ms);
    });
    await Promise.race([late, this.result.catch(() => {})]);
    clearTimeout(timer);
    return !this.#isOver && !this.#caller.isCancelled;
  }

  #take(value: T | undefined, at: number): void {
    this.#running.delete(at);
    if (value === undefined) return this.#endUnlessRunning();
    if (this.#isOver) return this.#onSurplus(value);
    this.#end();
    this.#result.resolve(value);
  }

  #refuse(error: unknown, at: number): void {
    this.#running.delete(at);
    if (this.#isOver) return;
    this.#refusal ??= { error };
    if (at > 0) return this.#endUnlessRunning();
    this.#end();
    this.#result.reject(error);
  }

  #endUnlessRunning(): void {
    if (this.#isOver || this.#running.size > 0) return;
    this.#end();
    if (this.#refusal) this.#result.reject(this.#refusal.error);
    else this.#result.resolve(undefined);
  }

  #end(): void {
    this.#isOver = true;
    for (const own of this.#running.values()) own.cancel(overtaken());
  }
}

function overtaken(): Fault {
  return new Fault('cancelled', 'another provider was faster');
}
