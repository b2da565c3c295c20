import {
  compilePatterns,
  TooLongError,
  type Step as ProgramStep,
} from '../../../kit/patterns/pattern-program.ts';
import { badPattern, parsePattern, type Assertion, type Test } from './pattern-syntax.ts';

type Step = ProgramStep<Test, Assertion>;

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
export function compilePattern(pattern: string): readonly Step[] {
  if (pattern.length > lengthMax) throw badPattern(`has more than ${lengthMax} characters`);
  try {
    return compilePatterns([parsePattern(pattern)], stepsMax);
  } catch (error) {
    if (error instanceof TooLongError) throw badPattern('repeats too much');
    throw error;
  }
}

const lengthMax = 1_000;
const stepsMax = 4_000;

/** All places of the pattern at once, so that no character is read twice. */
class PatternRun {
  readonly #steps: readonly Step[];
  readonly #text: string;

  constructor(steps: readonly Step[], text: string) {
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
        const isTaken = step?.op === 'character' && step.character(character);
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
      if (step?.op === 'found') return true;
      if (step?.op === 'split') open.push(...step.to);
      if (step?.op === 'edge' && step.edge(this.#text, place)) open.push(index + 1);
    }
    return false;
  }
}
