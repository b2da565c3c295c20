import { matchesMax, type Match } from './matches-store.ts';
import type { Near } from './owner-index.ts';

/** A message that may be a hit. */
export interface Candidate {
  readonly messageId: string;
  readonly createdAtMs: number;
  readonly near: Near | undefined;
  /** 0…1: the share of the query's words that it has, rare ones counting more. */
  readonly words: number;
}

/** How much each term tells, by how many messages have it. */
export class TermWeights {
  readonly #weights: readonly number[];
  readonly #sum: number;
  /** The places of terms of which not all messages are known. */
  readonly common: readonly number[];

  constructor(matches: readonly Match[], termCount: number) {
    const counts = Array.from({ length: termCount }, () => 0);
    for (const { term } of matches) if (term >= 0) counts[term] = (counts[term] ?? 0) + 1;
    this.#weights = counts.map(weightOf);
    this.#sum = this.#weights.reduce((sum, weight) => sum + weight, 0);
    this.common = [...counts.keys()].filter((term) => (counts[term] ?? 0) >= matchesMax);
  }

  shareOf(terms: Iterable<number>): number {
    if (this.#sum === 0) return 0;
    let own = 0;
    for (const term of terms) own += this.#weights[term] ?? 0;
    return Math.min(1, own / this.#sum);
  }
}

/** From 1, for what only a few have, down to a sixth for what most have. */
function weightOf(count: number): number {
  return 1 / (1 + Math.log2(1 + (count >= matchesMax ? 4 * matchesMax : count) / 16));
}

/** A score as it is told, and as it is compared with the least that somebody wants. */
export function roundScore(score: number): number {
  return Math.round(score * 1e4) / 1e4;
}

/** The terms that each message has, as far as the matches tell. */
export function collectTerms(
  matches: readonly Match[],
  termCount: number,
): Map<string, { readonly createdAtMs: number; readonly terms: Set<number> }> {
  const found = new Map<string, { createdAtMs: number; terms: Set<number> }>();
  for (const { term, messageId, createdAtMs } of matches) {
    const entry = found.get(messageId) ?? { createdAtMs, terms: new Set<number>() };
    found.set(messageId, entry);
    if (term >= 0) entry.terms.add(term);
    else for (let all = 0; all < termCount; all += 1) entry.terms.add(all);
  }
  return found;
}
