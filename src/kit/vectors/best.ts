/** The best of many candidates: a heap whose root is the worst of those kept. */
export class Best<Candidate extends { readonly score: number }> {
  readonly #limit: number;
  readonly #isBefore: (one: Candidate, other: Candidate) => boolean;
  readonly #heap: Candidate[] = [];

  /** `isBefore` orders those of the same score. */
  constructor(limit: number, isBefore: (one: Candidate, other: Candidate) => boolean) {
    this.#limit = limit;
    this.#isBefore = isBefore;
  }

  /** What a further candidate must exceed. */
  get least(): number {
    return this.#heap.length < this.#limit ? -Infinity : this.#scoreAt(0);
  }

  offer(candidate: Candidate): void {
    if (this.#heap.length < this.#limit) {
      this.#heap.push(candidate);
      this.#rise(this.#heap.length - 1);
    } else if (candidate.score > this.least) {
      this.#heap[0] = candidate;
      this.#sink(0);
    }
  }

  /** The best first. */
  sorted(): Candidate[] {
    return this.#heap.toSorted(
      (one, other) => other.score - one.score || (this.#isBefore(one, other) ? -1 : 1),
    );
  }

  #scoreAt(at: number): number {
    return this.#heap[at]?.score ?? Infinity;
  }

  #rise(at: number): void {
    const parent = (at - 1) >> 1;
    if (at === 0 || this.#scoreAt(parent) <= this.#scoreAt(at)) return;
    this.#swap(at, parent);
    this.#rise(parent);
  }

  #sink(at: number): void {
    const left = 2 * at + 1;
    const least = this.#scoreAt(left) <= this.#scoreAt(left + 1) ? left : left + 1;
    if (this.#scoreAt(least) >= this.#scoreAt(at)) return;
    this.#swap(at, least);
    this.#sink(least);
  }

  #swap(one: number, other: number): void {
    const [first, second] = [this.#heap[one], this.#heap[other]];
    if (!first || !second) return;
    this.#heap[one] = second;
    this.#heap[other] = first;
  }
}
