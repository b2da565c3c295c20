/**
 * A regular expression without what needs backtracking: no references back, no looks ahead or behind. How
 * one character of it and a place between two are said is up to its syntax.
 */
export type Pattern<Character, Edge> =
  | { readonly kind: 'character'; readonly character: Character }
  | { readonly kind: 'edge'; readonly edge: Edge }
  | Several<Character, Edge>
  | Repetition<Character, Edge>;

/** Patterns one behind the other, or of which any does. */
interface Several<Character, Edge> {
  readonly kind: 'sequence' | 'choice';
  readonly items: readonly Pattern<Character, Edge>[];
}

export interface Repetition<Character, Edge> {
  readonly kind: 'repetition';
  readonly item: Pattern<Character, Edge>;
  readonly min: number;
  /** Infinity when there is no end to it. */
  readonly max: number;
}
