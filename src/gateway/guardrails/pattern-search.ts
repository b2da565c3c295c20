import { compilePatterns, type Step as ProgramStep } from '../../kit/patterns/pattern-program.ts';
import { parsePattern, type EdgeKind } from '../../kit/patterns/pattern-syntax.ts';

type Step = ProgramStep<string, EdgeKind>;

/** What lies on both sides of a place in a text. */
interface Place {
  readonly isStart: boolean;
  readonly isEnd: boolean;
  readonly isAfterWord: boolean;
  readonly isBeforeWord: boolean;
}

/** Where a search stands: the steps that may come next, and what was read last. */
interface State {
  readonly steps: readonly number[];
  readonly isStart: boolean;
  readonly isAfterWord: boolean;
  /** By the next character. */
  readonly next: Map<string, State | Found>;
}

interface Found {
  readonly pattern: number;
}

const stepsMax = 20_000;
const keptMax = 50_000;
/** What comes after the last character. */
const end = '';

/**
 * Looks for several patterns at once, in time proportional to the text whatever the patterns are:
 * every character is looked at once, in all ways at the same time. Upper and lower case are alike.
 */
export class PatternSearch {
  readonly #program: readonly Step[];
  /** By the characters that they stand for, as these are written. */
  readonly #acceptors = new Map<string, RegExp>();
  readonly #states = new Map<string, State>();
  #start = firstState();
  #kept = 0;

  /** Throws `SyntaxError` for what is no pattern, `TooLongError` when they repeat too much. */
  constructor(patterns: readonly string[]) {
    this.#program = compilePatterns(patterns.map(parsePattern), stepsMax);
  }

  /** Which pattern stands first in the text; undefined when none does. */
  find(text: string): number | undefined {
    let state = this.#start;
    for (const character of text) {
      const next = state.next.get(character) ?? this.#step(state, character);
      if ('pattern' in next) return next.pattern;
      state = next;
    }
    const last = state.next.get(end) ?? this.#step(state, end);
    return 'pattern' in last ? last.pattern : undefined;
  }

  #step(state: State, character: string): State | Found {
    if (this.#kept >= keptMax) this.#forget();
    const ahead = { isEnd: character === end, isBeforeWord: isWord(character) };
    const { found, steps } = this.#reach(state, ahead);
    const next = found === undefined ? this.#read(steps, character) : { pattern: found };
    state.next.set(character, next);
    this.#kept += 1;
    return next;
  }

  /** The state behind a character; states with the same steps are one. */
  #read(steps: readonly number[], character: string): State {
    const after = new Set<number>();
    for (const at of steps) {
      const step = this.#program[at];
      if (step?.op === 'character' && this.#accepts(step.character, character)) after.add(at + 1);
    }
    const isAfterWord = isWord(character);
    const key = `${isAfterWord}${[...after].join()}`;
    const known = this.#states.get(key);
    if (known) return known;
    const state = { steps: [...after], isStart: false, isAfterWord, next: new Map() };
    this.#states.set(key, state);
    return state;
  }

  /** Upper and lower case are alike. At most one character is looked at, whatever the set is. */
  #accepts(source: string, character: string): boolean {
    let acceptor = this.#acceptors.get(source);
    if (!acceptor) {
      acceptor = new RegExp(`^(?:${source})$`, 'isu');
      this.#acceptors.set(source, acceptor);
    }
    return acceptor.test(character);
  }

  /** The steps that wait for a character, and the pattern that is complete here. */
  #reach(state: State, ahead: Pick<Place, 'isEnd' | 'isBeforeWord'>) {
    const { isStart, isAfterWord } = state;
    const place: Place = { isStart, isAfterWord, ...ahead };
    const open = [0, ...state.steps];
    const seen = new Set<number>();
    const steps: number[] = [];
    const found: number[] = [];
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      const step = seen.has(at) ? undefined : this.#program[at];
      seen.add(at);
      if (step?.op === 'character') steps.push(at);
      else if (step?.op === 'found') found.push(step.pattern);
      else if (step) open.push(...waysOn(step, at, place));
    }
    return {
      found: found.length > 0 ? Math.min(...found) : undefined,
      steps: steps.toSorted((a, b) => a - b),
    };
  }

  /** What is kept for speed is bounded, whatever texts come. */
  #forget(): void {
    this.#start = firstState();
    this.#states.clear();
    this.#kept = 0;
  }
}

function firstState(): State {
  return { steps: [], isStart: true, isAfterWord: false, next: new Map() };
}

function waysOn(step: Step, at: number, place: Place): readonly number[] {
  if (step.op === 'split') return step.to;
  return step.op === 'edge' && edges[step.edge](place) ? [at + 1] : [];
}

function isWord(character: string): boolean {
  return /[\p{L}\p{N}\p{M}_]/u.test(character);
}

/** Whether a place is the edge that a pattern wants. */
const edges: Readonly<Record<EdgeKind, (place: Place) => boolean>> = {
  '^': ({ isStart }) => isStart,
  $: ({ isEnd }) => isEnd,
  '\\b': ({ isAfterWord, isBeforeWord }) => isAfterWord !== isBeforeWord,
  '\\B': ({ isAfterWord, isBeforeWord }) => isAfterWord === isBeforeWord,
};
