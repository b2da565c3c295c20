import { Fault } from '../../../kit/errors.ts';

/** The fault of an expression that cannot be evaluated with what there is. */
export function expressionFault(message: string, path?: string): Fault {
  return new Fault('invalid', message, {
    reason: 'expression_failed',
    ...(path === undefined ? {} : { detail: { path } }),
  });
}

/** Bounds what evaluation may take, because its data are as large as anybody makes them. */
export class Budget {
  readonly #endsAtMs: number;
  #sizeLeft: number;

  constructor(bounds: { readonly ms: number; readonly size: number }) {
    this.#endsAtMs = performance.now() + bounds.ms;
    this.#sizeLeft = bounds.size;
  }

  /** Fault `invalid` (`expression_failed`) when size or time is used up. */
  spend(size: number): void {
    this.#sizeLeft -= Number.isNaN(size) ? 0 : size;
    if (this.#sizeLeft < 0) throw expressionFault('the expression brings forth too much');
    this.checkTime(performance.now());
  }

  /** Fault `invalid` (`expression_failed`) when that is behind the end. */
  checkTime(nowMs: number): void {
    if (nowMs > this.#endsAtMs) throw expressionFault('the expression takes too long');
  }
}
