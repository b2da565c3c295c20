import type { Fault } from '../../kit/errors.ts';
import type { AcceptedExport } from './writes.ts';

interface Waiting {
  readonly bytes: number;
  readonly resolve: (answer: AcceptedExport) => void;
  readonly reject: (error: Fault) => void;
}

/** Exports that wait for their answers, and what they weigh. */
export class WaitingExports {
  readonly #waiting = new Map<number, Waiting>();
  #bytes = 0;
  #lastId = 0;
  #drained: (() => void) | undefined;

  get count(): number {
    return this.#waiting.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Takes one of so many bytes; the answer follows what `ask` does with its number. */
  add(bytes: number, ask: (id: number) => void): Promise<AcceptedExport> {
    this.#lastId += 1;
    const id = this.#lastId;
    this.#bytes += bytes;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { bytes, resolve, reject });
      ask(id);
    });
  }

  accept(answer: AcceptedExport): void {
    this.#take(answer.id)?.resolve(answer);
    this.#noteDrained();
  }

  refuse(id: number, fault: Fault): void {
    this.#take(id)?.reject(fault);
    this.#noteDrained();
  }

  /** Refuses all; each gets a Fault of its own. */
  refuseAll(faultOf: () => Fault): void {
    for (const id of this.#waiting.keys()) this.refuse(id, faultOf());
  }

  /** Resolves once none waits. */
  async drained(): Promise<void> {
    if (this.#waiting.size > 0) await new Promise<void>((resolve) => (this.#drained = resolve));
  }

  #take(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    if (!waiting) return undefined;
    this.#waiting.delete(id);
    this.#bytes -= waiting.bytes;
    return waiting;
  }

  #noteDrained(): void {
    if (this.#waiting.size === 0) this.#drained?.();
  }
}
