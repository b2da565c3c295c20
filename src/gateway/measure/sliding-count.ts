/** Counts what happened in a window that slides in steps. */
export class SlidingCount {
  readonly #counts: number[];
  readonly #stepMs: number;
  #step = 0;
  #total = 0;

  constructor(window: { readonly steps: number; readonly stepMs: number }) {
    this.#counts = Array.from({ length: window.steps }, () => 0);
    this.#stepMs = window.stepMs;
  }

  add(now: number): void {
    this.#slide(now);
    const at = this.#step % this.#counts.length;
    this.#counts[at] = (this.#counts[at] ?? 0) + 1;
    this.#total += 1;
  }

  total(now: number): number {
    this.#slide(now);
    return this.#total;
  }

  #slide(now: number): void {
    const step = Math.floor(now / this.#stepMs);
    if (step === this.#step) return;
    const size = this.#counts.length;
    const first = Math.max(this.#step + 1, step - size + 1);
    for (let next = first; next <= step; next += 1) {
      this.#total -= this.#counts[next % size] ?? 0;
      this.#counts[next % size] = 0;
    }
    this.#step = Math.max(this.#step, step);
  }
}
