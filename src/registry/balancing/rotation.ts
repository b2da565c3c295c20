import type { Candidate } from './candidate.ts';
import { placeOf } from './order.ts';

/** Whose turn it is to stand first in a pool: by weight, whoever comes and goes meanwhile. */
export class Rotation {
  /** Who had the last turn. */
  #lastId = '';
  /** What is left of the weights of those whose weight is not 1. */
  readonly #credits = new WeakMap<Candidate, number>();

  /** Who has the turn, of candidates in the order of their ids, and behind it those that follow. */
  next(candidates: readonly Candidate[], limit: number, nowMs: number): Candidate[] {
    const first = this.#turn(candidates, nowMs);
    const ahead = candidates.slice(first, first + limit);
    return [...ahead, ...candidates.slice(0, Math.min(first, limit - ahead.length))];
  }

  /** The place of the one that has it. */
  #turn(candidates: readonly Candidate[], nowMs: number): number {
    const start = this.#start(candidates);
    let place: number | undefined;
    for (let step = 0; step < candidates.length && place === undefined; step += 1) {
      const at = (start + step) % candidates.length;
      if (this.#hasTurn(candidates[at], nowMs)) place = at;
    }
    place ??= this.#early(candidates);
    const candidate = candidates[place];
    // One that has credit left has the next turn too.
    const last = this.#creditOf(candidate) >= 1 ? candidates[place - 1] : candidate;
    this.#lastId = last?.id ?? '';
    return place;
  }

  /** Behind the last one; a weight above 1 keeps its turn. */
  #start(candidates: readonly Candidate[]): number {
    const at = placeOf(candidates, this.#lastId);
    return candidates[at]?.id === this.#lastId ? at + 1 : at;
  }

  #hasTurn(candidate: Candidate | undefined, nowMs: number): boolean {
    if (!candidate) return false;
    const weight = candidate.weightAt(nowMs);
    const known = this.#credits.get(candidate);
    if (weight === 1 && known === undefined) return true;
    const credit = known !== undefined && known >= 1 ? known : (known ?? 0) + weight;
    this.#credits.set(candidate, credit >= 1 ? credit - 1 : credit);
    return credit >= 1;
  }

  #creditOf(candidate: Candidate | undefined): number {
    return (candidate && this.#credits.get(candidate)) ?? 0;
  }

  /** The place of the one with the most credit, which has its turn early when a round gave nobody one. */
  #early(candidates: readonly Candidate[]): number {
    let place = 0;
    for (const [at, candidate] of candidates.entries()) {
      if (this.#creditOf(candidate) > this.#creditOf(candidates[place])) place = at;
    }
    const candidate = candidates[place];
    if (candidate) this.#credits.set(candidate, this.#creditOf(candidate) - 1);
    return place;
  }
}
