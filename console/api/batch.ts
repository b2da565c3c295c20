/** Gathers what comes in a row, and hands it over together so long after the first of it. */
export class Batch<T> implements Disposable {
  readonly #restMs: number;
  readonly #take: (gathered: readonly T[]) => void;
  #gathered: T[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(restMs: number, take: (gathered: readonly T[]) => void) {
    this.#restMs = restMs;
    this.#take = take;
  }

  add(one: T): void {
    this.#gathered.push(one);
    this.#timer ??= setTimeout(() => this.flush(), this.#restMs);
  }

  /** Hands over what there is, at once. */
  flush(): void {
    const gathered = this.#gathered;
    this[Symbol.dispose]();
    if (gathered.length > 0) this.#take(gathered);
  }

  /** Drops what there is. */
  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#gathered = [];
  }
}
