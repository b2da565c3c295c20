import { sharedAbort } from '../../../kit/shared-abort.ts';
import { mayBeDropped } from '../walk/walk-catchers.ts';
import type { Step } from '../walk/walk-frame.ts';

/** The nodes of one run whose components run, each with the signal that ends it. */
export class RunningNodes {
  readonly #steps = new Map<string, Step>();
  readonly #stopping = sharedAbort();
  /** Of those that something around them may end. */
  readonly #aborts = new Map<string, AbortController>();

  get count(): number {
    return this.#steps.size;
  }

  steps(): Step[] {
    return [...this.#steps.values()];
  }

  begin(step: Step): AbortSignal {
    this.#steps.set(step.key, step);
    if (!mayBeDropped(step)) return this.#stopping.signal;
    const own = new AbortController();
    this.#aborts.set(step.key, own);
    return own.signal;
  }

  end(step: Step): void {
    this.#steps.delete(step.key);
    this.#aborts.delete(step.key);
  }

  /** Of one that is ended with what ran it. */
  cancel(step: Step): void {
    this.#aborts.get(step.key)?.abort(new Error('the node was ended with what ran it'));
    this.end(step);
  }

  stop(reason: Error): void {
    this.#stopping.abort(reason);
    for (const own of this.#aborts.values()) own.abort(reason);
  }
}
