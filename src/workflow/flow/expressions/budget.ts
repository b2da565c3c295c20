import { Fault } from '../../../kit/errors.ts';
import { processorMs } from '../../../kit/processor-time.ts';

/** The fault of an expression that cannot be evaluated with what there is. */
export function expressionFault(message: string, path?: string): Fault {
  return new Fault('invalid', message, {
    reason: 'expression_failed',
    ...(path === undefined ? {} : { detail: { path } }),
  });
}

/** What one evaluation may take: so long by the clock and of the processor, and so much brought forth. */
export interface EvaluationBounds {
  readonly ms: number;
  readonly size: number;
}

/** Bounds what evaluation may take, because its data are as large as anybody makes them. */
export class Budget {
  readonly #ms: number;
  readonly #startedAtMs = performance.now();
  readonly #readProcessorMs: () => number;
  readonly #processorMs: number;
  #sizeLeft: number;

  constructor({ ms, size }: EvaluationBounds, readProcessorMs = processorMs) {
    this.#ms = ms;
    this.#sizeLeft = size;
    this.#readProcessorMs = readProcessorMs;
    this.#processorMs = readProcessorMs();
  }

  /** Fault `invalid` (`expression_failed`) when size or time is used up. */
  spend(size: number): void {
    this.#sizeLeft -= Number.isNaN(size) ? 0 : size;
    if (this.#sizeLeft < 0) throw expressionFault('the expression brings forth too much');
    this.checkTime(performance.now());
  }

  /**
   * Fault `invalid` (`expression_failed`) when that is behind the end. A process that the machine gave no
   * time to, or that slept, has not used it up.
   */
  checkTime(nowMs: number): void {
    if (nowMs - this.#startedAtMs <= this.#ms) return;
    if (this.#readProcessorMs() - this.#processorMs <= this.#ms) return;
    throw expressionFault('the expression takes too long');
  }
}
