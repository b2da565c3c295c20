/** One request's part in the beat. */
export interface BeatMember {
  /** To be called before each token but the first; undefined when there is nobody to wait for. */
  readonly step: () => Promise<void> | undefined;
  /** The others do not wait for this one any more, until its next step. */
  readonly rest: () => void;
}

interface Ready {
  readonly number: number;
  readonly go: () => void;
}

/**
 * Keeps the requests of one model in step, in the order of their sequences. The binding evaluates what is
 * asked for at the moment, so without it a request that is a microsecond late misses the batch; and
 * llama.cpp takes the tokens of a batch together only while the numbers of their sequences go up by one
 * (`llama_batch_allocr::split_equal`). Otherwise eight requests take nearly eight times as long as one.
 */
export class Beat {
  /** Requests that wait for a token. */
  #outstanding = 0;
  readonly #ready: Ready[] = [];
  #isReleasing = false;

  /**
   * One, with the number of its sequence, that nobody waits for before its first step, so that no prompt
   * holds up the others.
   */
  join(number: number): BeatMember {
    let isAwaited = false;
    const rest = () => {
      if (!isAwaited) return;
      isAwaited = false;
      this.#outstanding--;
      this.#releaseWhenComplete();
    };
    const step = () => {
      rest();
      isAwaited = true;
      if (this.#outstanding > 0 || this.#ready.length > 0) return this.#enterTogether(number);
      this.#outstanding++;
      return undefined;
    };
    return { step, rest };
  }

  #enterTogether(number: number): Promise<void> {
    return new Promise((go) => {
      this.#ready.push({ number, go });
      this.#releaseWhenComplete();
    });
  }

  #releaseWhenComplete(): void {
    if (this.#outstanding > 0 || this.#ready.length === 0 || this.#isReleasing) return;
    this.#isReleasing = true;
    // First the binding has to see that nobody asks it for anything, else it goes on with half of them.
    setImmediate(() => {
      this.#isReleasing = false;
      const ready = this.#ready.splice(0).toSorted((one, other) => one.number - other.number);
      this.#outstanding += ready.length;
      for (const { go } of ready) go();
    });
  }
}
