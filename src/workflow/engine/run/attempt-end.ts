import { Fault } from '../../../kit/errors.ts';

/** What may end one attempt of a node from outside: its time, or what runs it. */
export class AttemptEnd {
  #stopped: { readonly reason: unknown } | undefined;
  readonly #controller = new AbortController();
  #reject = (_reason: unknown): void => {};

  /** Why it was stopped. */
  get reason(): unknown {
    return this.#stopped?.reason;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  stop(reason: unknown): void {
    this.#stopped ??= { reason };
    this.#controller.abort(reason);
    this.#reject(Fault.from(reason));
  }

  /** What the work comes to, or at once why it was stopped: one that does not listen must not hold up the flow. */
  orStopped<T>(work: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#reject = reject;
      if (this.#stopped) reject(Fault.from(this.#stopped.reason));
      work.then(resolve, reject);
    });
  }

  /** A component that was aborted says so in its own words; ours tell why. */
  isOwn(error: unknown): boolean {
    return (
      this.#stopped !== undefined && ['cancelled', 'deadline'].includes(Fault.from(error).code)
    );
  }
}
