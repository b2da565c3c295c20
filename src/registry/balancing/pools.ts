import type { Candidate } from './candidate.ts';
import { Posting } from './posting.ts';

/** The connections that are not disconnected, by what they offer. */
export class Pools {
  readonly all = new Posting();
  readonly #postings = new Map<string, Posting>();

  /** Puts a candidate, new or known by the same capabilities, where its state now says. */
  place(candidate: Candidate): void {
    for (const posting of this.#open(candidate)) posting.place(candidate);
  }

  remove(candidate: Candidate, names: Iterable<string> = candidate.names): void {
    this.all.remove(candidate);
    for (const name of names) {
      const posting = this.#postings.get(name);
      posting?.remove(candidate);
      if (posting?.size === 0) this.#postings.delete(name);
    }
  }

  find(capability: string): Posting | undefined {
    return this.#postings.get(capability);
  }

  /** The smallest pool of those that offer what is wanted; all connections when nothing is. */
  smallest(capabilities: readonly string[]): Posting | undefined {
    let [found]: (Posting | undefined)[] = capabilities.length === 0 ? [this.all] : [];
    for (const capability of capabilities) {
      const posting = this.#postings.get(capability);
      if (!posting) return undefined;
      if (!found || posting.size < found.size) found = posting;
    }
    return found;
  }

  entries(): Iterable<readonly [capability: string, posting: Posting]> {
    return this.#postings;
  }

  get capabilityCount(): number {
    return this.#postings.size;
  }

  *#open({ names }: Candidate): Generator<Posting> {
    yield this.all;
    for (const name of names) {
      const posting = this.#postings.get(name) ?? new Posting();
      this.#postings.set(name, posting);
      yield posting;
    }
  }
}
