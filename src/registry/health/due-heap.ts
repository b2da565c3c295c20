interface Due {
  readonly id: string;
  dueMs: number;
  place: number;
}

/** Ids by when they are due. Each is in it once; every change costs the logarithm of their number. */
export class DueHeap {
  readonly #heap: Due[] = [];
  readonly #byId = new Map<string, Due>();

  get size(): number {
    return this.#heap.length;
  }

  /** When the first is due; infinity when there is none. */
  get firstMs(): number {
    return this.#heap[0]?.dueMs ?? Number.POSITIVE_INFINITY;
  }

  set(id: string, dueMs: number): void {
    const known = this.#byId.get(id);
    if (!known) {
      const due = { id, dueMs, place: this.#heap.length };
      this.#byId.set(id, due);
      this.#heap.push(due);
      this.#rise(due);
      return;
    }
    known.dueMs = dueMs;
    this.#rise(known);
    this.#sink(known);
  }

  delete(id: string): void {
    const due = this.#byId.get(id);
    if (!due) return;
    this.#byId.delete(id);
    const last = this.#heap.pop();
    if (!last || last === due) return;
    this.#put(last, due.place);
    this.#rise(last);
    this.#sink(last);
  }

  /** Takes out the first when it is due by then. */
  take(nowMs: number): string | undefined {
    const [first] = this.#heap;
    if (!first || first.dueMs > nowMs) return undefined;
    this.delete(first.id);
    return first.id;
  }

  clear(): void {
    this.#heap.length = 0;
    this.#byId.clear();
  }

  #rise(due: Due): void {
    for (;;) {
      const parent = this.#heap[(due.place - 1) >> 1];
      if (due.place === 0 || !parent || parent.dueMs <= due.dueMs) return;
      this.#swap(due, parent);
    }
  }

  #sink(due: Due): void {
    for (;;) {
      const left = this.#heap[2 * due.place + 1];
      const right = this.#heap[2 * due.place + 2];
      const child = left && right && right.dueMs < left.dueMs ? right : left;
      if (!child || child.dueMs >= due.dueMs) return;
      this.#swap(due, child);
    }
  }

  #swap(one: Due, other: Due): void {
    const { place } = one;
    this.#put(one, other.place);
    this.#put(other, place);
  }

  #put(due: Due, place: number): void {
    due.place = place;
    this.#heap[place] = due;
  }
}
