import { possibleMax, type Match } from './matches-store.ts';
import { toNormalForm } from './normal-form.ts';
import type { Query, Term } from './query.ts';
import { collectTerms } from './ranking.ts';
import type { Texts } from './texts.ts';

/** What is left of what was to be checked. */
export interface Checked<Kept> {
  readonly kept: Kept;
  /** False when there may be more: not all that should have been checked was. */
  readonly isAll: boolean;
}

/** Drops matches whose term has its characters in the text, but nowhere side by side. */
export async function checkMatches(
  texts: Texts,
  terms: readonly Term[],
  matches: readonly Match[],
): Promise<Checked<readonly Match[]>> {
  const isDoubtful = (at: number) => terms[at]?.isAdjacent === true;
  if (!terms.some(({ isAdjacent }) => isAdjacent)) return { kept: matches, isAll: true };
  const found = collectTerms(matches, terms.length);
  const doubtful = [...found]
    .filter(([, { terms: own }]) => [...own].some(isDoubtful))
    .toSorted(
      ([, one], [, other]) =>
        other.terms.size - one.terms.size || other.createdAtMs - one.createdAtMs,
    )
    .map(([id]) => id);
  const drop = (id: string, hasTerm: (term: Term) => boolean) => {
    const own = found.get(id)?.terms;
    for (const [at, term] of terms.entries()) {
      if (isDoubtful(at) && !hasTerm(term)) own?.delete(at);
    }
  };
  const left = await texts.visit(doubtful, ({ id, content }) => {
    const normal = toNormalForm(content);
    drop(id, ({ text }) => normal.includes(text));
  });
  for (const id of left) drop(id, () => false);
  const kept = [...found].flatMap(([messageId, { createdAtMs, terms: own }]) =>
    Array.from(own, (term) => ({ term, messageId, createdAtMs })),
  );
  const isAll = left.length === 0 && !terms.some((_, at) => countOf(matches, at) >= possibleMax);
  return { kept, isAll };
}

function countOf(matches: readonly Match[], at: number): number {
  return matches.filter(({ term }) => term === at).length;
}

/**
 * Of messages that have the words of some terms, those that have all phrases and no excluded one, and which
 * of the terms they have; checked in the map's order.
 */
export async function checkTexts(
  texts: Texts,
  has: ReadonlyMap<string, readonly boolean[]>,
  { terms, phrases, excludedPhrases }: Pick<Query, 'terms' | 'phrases' | 'excludedPhrases'>,
): Promise<Checked<ReadonlyMap<string, readonly boolean[]>>> {
  const isChosen = phrases.length + excludedPhrases.length > 0;
  const fits = phraseCheck(phrases, excludedPhrases);
  const isDoubtful = (flags: readonly boolean[]) =>
    flags.some((flag, at) => flag && terms[at]?.isAdjacent === true);
  const doubtful = [...has].filter(([, flags]) => isChosen || isDoubtful(flags));
  const kept = new Map(has);
  const keepTerms = (id: string, hasTerm: (term: Term) => boolean) => {
    const flags = terms.map((term, at) => kept.get(id)?.[at] === true && hasTerm(term));
    kept.set(id, flags);
  };
  const left = await texts.visit(
    doubtful.map(([id]) => id),
    ({ id, content }) => {
      const normal = toNormalForm(content);
      if (fits(normal)) {
        keepTerms(id, ({ text, isAdjacent }) => !isAdjacent || normal.includes(text));
      } else kept.delete(id);
    },
  );
  for (const id of left) {
    if (isChosen) kept.delete(id);
    else keepTerms(id, ({ isAdjacent }) => !isAdjacent);
  }
  return { kept, isAll: left.length === 0 };
}

/** Tells whether a text in its normal form has all wanted phrases and no unwanted one, in upper or lower case. */
function phraseCheck(
  wanted: readonly string[],
  unwanted: readonly string[],
): (text: string) => boolean {
  if (wanted.length + unwanted.length === 0) return () => true;
  const [all, none] = [wanted, unwanted].map((list) => list.map((one) => one.toLowerCase()));
  return (text) => {
    const lower = text.toLowerCase();
    const isIn = (phrase: string) => lower.includes(phrase);
    return all?.every(isIn) === true && none?.some(isIn) !== true;
  };
}
