import { badPattern, parsePattern, type PatternTree, type Repeat } from './pattern-tree.ts';

/**
 * Whether the pattern is found in the text: RE2's syntax as far as a yes or no needs it. Takes time
 * in proportion to text and pattern whatever they are, and tells how much it goes through. Fault
 * `invalid` (`bad_expression`) for a pattern that is none.
 */
export function matchesPattern(
  text: string,
  pattern: string,
  spend: (size: number) => void,
): boolean {
  const steps = compilePattern(pattern);
  spend(text.length * Math.ceil(steps.length / 8));
  return new PatternRun(steps, text).isFound();
}

/** Fault `invalid` (`bad_expression`) for a pattern that is none, or too large. */
export function compilePattern(pattern: string): readonly PatternStep[] {
  if (pattern.length > lengthMax) throw badPattern(`has more than ${lengthMax} characters`);
  const steps: PatternStep[] = [];
  emit(parsePattern(pattern), steps);
  steps.push({ kind: 'found' });
  return steps;
}

const lengthMax = 1_000;
const stepsMax = 4_000;

/** One step of a compiled pattern. */
export type PatternStep =
  | { readonly kind: 'take'; readonly has: (character: string) => boolean }
  | { readonly kind: 'at'; readonly holds: (text: string, place: number) => boolean }
  | { readonly kind: 'split'; to: readonly number[] }
  | { readonly kind: 'found' };

/** Each kind of tree becomes steps (Thompson's construction). */
function emit(tree: PatternTree, steps: PatternStep[]): void {
  if (steps.length > stepsMax) throw badPattern('repeats too much');
  if (tree.kind === 'take' || tree.kind === 'at') steps.push(tree);
  else if (tree.kind === 'repeat') emitRepeat(tree, steps);
  else if (tree.kind === 'choice') emitChoice(tree.parts, steps);
  else for (const part of tree.parts) emit(part, steps);
}

function emitChoice(parts: readonly PatternTree[], steps: PatternStep[]): void {
  const split = { kind: 'split' as const, to: [] as readonly number[] };
  steps.push(split);
  const starts: number[] = [];
  const ends: { kind: 'split'; to: readonly number[] }[] = [];
  for (const part of parts) {
    starts.push(steps.length);
    emit(part, steps);
    const end = { kind: 'split' as const, to: [] as readonly number[] };
    ends.push(end);
    steps.push(end);
  }
  split.to = starts;
  for (const end of ends) end.to = [steps.length];
}

function emitRepeat({ part, least, most }: Repeat, steps: PatternStep[]): void {
  for (let count = 0; count < least; count += 1) {
    const before = steps.length;
    emit(part, steps);
    // Nothing is the same however often it is repeated.
    if (steps.length === before) return;
  }
  if (most === Infinity) return emitLoop(part, steps);
  const splits: { kind: 'split'; to: readonly number[] }[] = [];
  for (let count = least; count < most; count += 1) {
    const split = { kind: 'split' as const, to: [] as readonly number[] };
    splits.push(split);
    steps.push(split);
    const start = steps.length;
    emit(part, steps);
    split.to = [start];
  }
  for (const split of splits) split.to = [...split.to, steps.length];
}

function emitLoop(part: PatternTree, steps: PatternStep[]): void {
  const split = { kind: 'split' as const, to: [] as readonly number[] };
  const start = steps.length;
  steps.push(split);
  emit(part, steps);
  steps.push({ kind: 'split', to: [start] });
  split.to = [start + 1, steps.length];
}

/** All places of the pattern at once, so that no character is read twice. */
class PatternRun {
  readonly #steps: readonly PatternStep[];
  readonly #text: string;

  constructor(steps: readonly PatternStep[], text: string) {
    this.#steps = steps;
    this.#text = text;
  }

  isFound(): boolean {
    let active = new Set<number>();
    let place = 0;
    for (;;) {
      // The pattern may start anywhere.
      if (this.#follow(0, place, active)) return true;
      if (place >= this.#text.length) return false;
      const character = String.fromCodePoint(this.#text.codePointAt(place) ?? 0);
      const next = new Set<number>();
      place += character.length;
      for (const index of active) {
        const step = this.#steps[index];
        const isTaken = step?.kind === 'take' && step.has(character);
        if (isTaken && this.#follow(index + 1, place, next)) return true;
      }
      active = next;
    }
  }

  /** Adds what can be reached without a character; whether the end is among it. */
  #follow(from: number, place: number, active: Set<number>): boolean {
    const open = [from];
    for (let index = open.pop(); index !== undefined; index = open.pop()) {
      if (active.has(index)) continue;
      active.add(index);
      const step = this.#steps[index];
      if (step?.kind === 'found') return true;
      if (step?.kind === 'split') open.push(...step.to);
      if (step?.kind === 'at' && step.holds(this.#text, place)) open.push(index + 1);
    }
    return false;
  }
}
