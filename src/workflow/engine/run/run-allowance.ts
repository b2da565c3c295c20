import { failureOf } from './node-failure.ts';
import type { OutcomeParts } from './outcome-parts.ts';
import type { Step } from '../walk/walk-frame.ts';

/** What one execution may use; beyond that it has failed. */
export class RunAllowance {
  readonly #parts: Pick<OutcomeParts, 'limits' | 'history' | 'endFailed'>;

  constructor(parts: Pick<OutcomeParts, 'limits' | 'history' | 'endFailed'>) {
    this.#parts = parts;
  }

  /** False, and the execution has failed, when it used more than it may. */
  isWithinBudget(step: Step): boolean {
    return this.#isAllowed(step, () => this.#parts.limits.checkBudget());
  }

  /** False, and the execution has failed, when this is one more node than it may have. */
  isCounted(step: Step): boolean {
    // What an earlier life has written is counted with it.
    if (this.#parts.history.entries.has(step.key)) return true;
    return this.#isAllowed(step, () => this.#parts.limits.countNode());
  }

  #isAllowed({ nodeId }: Step, check: () => void): boolean {
    try {
      check();
      return true;
    } catch (thrown) {
      const { error, isRetryable } = failureOf(thrown);
      this.#parts.endFailed({ nodeId, attempt: 1, ...error }, isRetryable);
      return false;
    }
  }
}
