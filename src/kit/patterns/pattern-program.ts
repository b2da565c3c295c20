import type { Pattern, Repetition } from './pattern.ts';

/** One step of a program that looks for several patterns at once (Thompson, 1968). */
export type Step<Character, Edge> =
  /** Takes one such character and goes on with the next step. */
  | { readonly op: 'character'; readonly character: Character }
  /** Goes on with the next step at such a place. */
  | { readonly op: 'edge'; readonly edge: Edge }
  | { readonly op: 'split'; readonly to: readonly number[] }
  | { readonly op: 'found'; readonly pattern: number };

/** Thrown when patterns repeat so much that the program becomes too long. */
export class TooLongError extends Error {
  override readonly name = 'TooLongError';
}

/** The program that finds any of the patterns; it starts at step 0. Throws `TooLongError`. */
export function compilePatterns<Character, Edge>(
  patterns: readonly Pattern<Character, Edge>[],
  stepsMax: number,
): readonly Step<Character, Edge>[] {
  const compiler = new Compiler<Character, Edge>(stepsMax);
  const starts = compiler.split();
  for (const [at, pattern] of patterns.entries()) {
    starts.push(compiler.next);
    compiler.emit(pattern);
    compiler.add({ op: 'found', pattern: at });
  }
  return compiler.steps;
}

class Compiler<Character, Edge> {
  readonly steps: Step<Character, Edge>[] = [];
  readonly #stepsMax: number;

  constructor(stepsMax: number) {
    this.#stepsMax = stepsMax;
  }

  get next(): number {
    return this.steps.length;
  }

  add(step: Step<Character, Edge>): void {
    if (this.steps.length >= this.#stepsMax) throw new TooLongError('the patterns repeat too much');
    this.steps.push(step);
  }

  /** Adds a step that goes on wherever the answered list will say. */
  split(): number[] {
    const to: number[] = [];
    this.add({ op: 'split', to });
    return to;
  }

  emit(pattern: Pattern<Character, Edge>): void {
    switch (pattern.kind) {
      case 'character':
        return this.add({ op: 'character', character: pattern.character });
      case 'edge':
        return this.add({ op: 'edge', edge: pattern.edge });
      case 'sequence':
        for (const item of pattern.items) this.emit(item);
        return;
      case 'choice':
        return this.#emitChoice(pattern.items);
      case 'repetition':
        return this.#emitRepetition(pattern);
    }
  }

  #emitChoice(items: readonly Pattern<Character, Edge>[]): void {
    const [only] = items;
    if (only && items.length === 1) return this.emit(only);
    const branches = this.split();
    const ends: number[][] = [];
    for (const item of items) {
      branches.push(this.next);
      this.emit(item);
      ends.push(this.split());
    }
    for (const end of ends) end.push(this.next);
  }

  #emitRepetition({ item, min, max }: Repetition<Character, Edge>): void {
    for (let times = 0; times < min; times += 1) {
      const before = this.next;
      this.emit(item);
      // Nothing is the same however often it is repeated.
      if (this.next === before) return;
    }
    if (max === Number.POSITIVE_INFINITY) return this.#emitLoop(item);
    const exits: number[][] = [];
    for (let times = min; times < max; times += 1) {
      const ways = this.split();
      ways.push(this.next);
      exits.push(ways);
      this.emit(item);
    }
    for (const exit of exits) exit.push(this.next);
  }

  #emitLoop(item: Pattern<Character, Edge>): void {
    const loop = this.next;
    const ways = this.split();
    ways.push(this.next);
    this.emit(item);
    this.split().push(loop);
    ways.push(this.next);
  }
}
