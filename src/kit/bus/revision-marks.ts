/** A statement may take its revision this long before what it wrote can be read. */
const lateMsMax = 15_000;

interface Mark {
  readonly revision: number;
  readonly atMs: number;
}

/**
 * Where to go on with the reading of what changed in a table, whose rows have revisions of one
 * sequence. A lower revision may become readable after a higher one: whoever went on behind the
 * highest would never see it, so what is younger than any statement is read again.
 */
export class RevisionMarks {
  readonly #now: () => number;
  /** The newest revisions that were given out at a time, the oldest first. */
  #marks: Mark[] = [];
  /** All up to this one was read. */
  #after = 0;

  /** `now` is a monotonic clock in milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /**
   * Has everything read behind a revision, unless there is nothing; `last` is the newest that was
   * given out a moment ago. Rejects as `read` does, and then goes on at the same place.
   */
  async goOn(last: number, read: (afterRevision: number) => Promise<void>): Promise<void> {
    if (last === this.#after) {
      this.#marks = [];
      return;
    }
    const atMs = this.#now();
    if (this.#marks.at(-1)?.revision !== last) this.#marks.push({ revision: last, atMs });
    await read(this.#after);
    const settled = this.#marks.filter((mark) => mark.atMs <= atMs - lateMsMax);
    this.#marks = this.#marks.slice(settled.length);
    this.#after = settled.at(-1)?.revision ?? this.#after;
  }
}
