import type { Candidate } from './candidate.ts';
import { placeOf } from './order.ts';

/** Whose turn it is in a pool: by weight, whoever comes and goes meanwhile. */
export class Rotation {
  /** Who had the last turn. */
  #lastId = '';
  /** What is left of the weights of those whose weight is not 1. */
  readonly #credits = new WeakMap<Candidate, number>();

  /** The next ones of candidates that are in the order of their ids, each at most once. */
  next(candidates: readonly Candidate[], limit: number, nowMs: number): Candidate[] {
    const chosen: Candidate[] = [];
    const start = this.#start(candidates);
    for (let step = 0; step < candidates.length && chosen.length < limit; step += 1) {
      const candidate = candidates[(start + step) % candidates.length];
      if (candidate && this.#hasTurn(candidate, nowMs)) chosen.push(candidate);
    }
    if (chosen.length < limit) this.#fill(candidates, limit, chosen);
    const last = chosen.at(-1);
    if (last) this.#lastId = this.#hasCredit(last) ? before(candidates, last) : last.id;
    return chosen;
  }

  /** Behind the last one; a weight above 1 keeps its turn. */
  #start(candidates: readonly Candidate[]): number {
    const at = placeOf(candidates, this.#lastId);
    return candidates[at]?.id === this.#lastId ? at + 1 : at;
  }

  #hasTurn(candidate: Candidate, nowMs: number): boolean {
    const weight = candidate.weightAt(nowMs);
    const known = this.#credits.get(candidate);
    if (weight === 1 && known === undefined) return true;
    const credit = known !== undefined && known >= 1 ? known : (known ?? 0) + weight;
    this.#credits.set(candidate, credit >= 1 ? credit - 1 : credit);
    return credit >= 1;
  }

  #hasCredit(candidate: Candidate): boolean {
    return (this.#credits.get(candidate) ?? 0) >= 1;
  }

  /** Where a whole round gave too few, those with the most credit have their turn early. */
  #fill(candidates: readonly Candidate[], limit: number, chosen: Candidate[]): void {
    const creditOf = (candidate: Candidate) => this.#credits.get(candidate) ?? 0;
    const isChosen = new Set(chosen);
    const rest = candidates.filter((candidate) => !isChosen.has(candidate));
    rest.sort((one, other) => creditOf(other) - creditOf(one));
    for (const candidate of rest.slice(0, limit - chosen.length)) {
      this.#credits.set(candidate, creditOf(candidate) - 1);
      chosen.push(candidate);
    }
  }
}

/** The id before which a candidate comes next again. */
function before(candidates: readonly Candidate[], candidate: Candidate): string {
  return candidates[candidates.indexOf(candidate) - 1]?.id ?? '';
}
