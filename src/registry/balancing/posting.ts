import type { Candidate } from './candidate.ts';
import type { Pool, Weights } from './choice.ts';
import { placeOf } from './order.ts';
import { Rotation } from './rotation.ts';

/**
 * The connections that offer one capability, in the order of their registration: those in use, the
 * outliers that are kept out for a while, and those whose health is an error.
 */
export class Posting {
  readonly usable: Candidate[] = [];
  readonly ejected: Candidate[] = [];
  readonly failed: Candidate[] = [];
  readonly rotation = new Rotation();
  #drawable: Candidate[] | undefined;
  #weights: Weights | undefined;

  /** Those in use, to choose from. */
  readonly pool: Pool = {
    candidates: this.usable,
    drawable: () => (this.#drawable ??= [...this.usable]),
    weights: () => (this.#weights ??= weightsOf(this.usable)),
    rotation: this.rotation,
  };

  get size(): number {
    return this.usable.length + this.ejected.length + this.failed.length;
  }

  /** Puts a candidate where its state now says; an outlier stays in use when half are out already. */
  place(candidate: Candidate): void {
    this.#take(candidate);
    insert(this.#rankOf(candidate), candidate);
    this.#balance();
    this.#drawable = undefined;
    this.#weights = undefined;
  }

  remove(candidate: Candidate): void {
    this.#take(candidate);
    this.#balance();
    this.#drawable = undefined;
    this.#weights = undefined;
  }

  #rankOf({ connection, ejectedUntilMs }: Candidate): Candidate[] {
    if (connection.status === 'error') return this.failed;
    return ejectedUntilMs > 0 ? this.ejected : this.usable;
  }

  #take(candidate: Candidate): void {
    for (const rank of [this.usable, this.ejected, this.failed]) {
      const at = placeOf(rank, candidate.id);
      if (rank[at] === candidate) rank.splice(at, 1);
    }
  }

  /** Never more than half is out: those that were to come back first do. */
  #balance(): void {
    while (this.ejected.length > this.usable.length) {
      const first = this.ejected.reduce((one, other) =>
        other.ejectedUntilMs < one.ejectedUntilMs ? other : one,
      );
      this.ejected.splice(this.ejected.indexOf(first), 1);
      insert(this.usable, first);
    }
  }
}

/** The least and the greatest weight of candidates; without any, both are 0. */
export function weightsOf(candidates: readonly Candidate[]): Weights {
  let min = Number.POSITIVE_INFINITY;
  let max = 0;
  let lastGrownAtMs = 0;
  for (const { weight, grownAtMs } of candidates) {
    if (weight < min) min = weight;
    if (weight > max) max = weight;
    if (grownAtMs > lastGrownAtMs) lastGrownAtMs = grownAtMs;
  }
  return { min: Math.min(min, max), max, grownAtMs: lastGrownAtMs };
}

function insert(candidates: Candidate[], candidate: Candidate): void {
  const last = candidates.at(-1);
  if (!last || last.id < candidate.id) candidates.push(candidate);
  else candidates.splice(placeOf(candidates, candidate.id), 0, candidate);
}
