import { Fault } from '../../kit/errors.ts';
import type { FlowFault } from './flow.ts';
import { flowLimits } from './limits.ts';

/** The faults of a flow, as many as help anybody. */
export class FaultList {
  readonly #faults: FlowFault[] = [];
  #count = 0;

  get isAny(): boolean {
    return this.#count > 0;
  }

  add(fault: FlowFault): void {
    this.#count += 1;
    if (this.#faults.length < flowLimits.faults) this.#faults.push(fault);
  }

  addAll(faults: readonly FlowFault[]): void {
    for (const fault of faults) this.add(fault);
  }

  /** What is done, or undefined with its Fault among these. */
  catching<Result>(at: Omit<FlowFault, 'message'>, run: () => Result): Result | undefined {
    try {
      return run();
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      this.add({ ...at, message: error.message });
      return undefined;
    }
  }

  /** The last one says so when there are more. */
  list(): readonly FlowFault[] {
    const hidden = this.#count - this.#faults.length;
    if (hidden === 0) return this.#faults;
    const message = `${hidden} further faults are not listed`;
    return [...this.#faults, { code: 'MORE_FAULTS', message }];
  }
}
