import { parsePattern, type WrittenPattern } from '../../../kit/patterns/pattern-syntax.ts';
import { readCharacters, writeCharacters } from './character-sets.ts';

/** The texts that match a regular expression, as a grammar writes them within a JSON text. */
export interface Texts {
  /** GBNF. */
  readonly expression: string;
  /** Of the shortest and the longest, in characters. */
  readonly shortest: number;
  readonly longest: number;
  /** Places of the expression, its repetitions written out. */
  readonly places: number;
  /** How many of them may come next, at most. */
  readonly ways: number;
}

/** Places of an expression, its repetitions written out. */
const placesMax = 250;
/**
 * Steps from place to place: llama.cpp takes all of them at once that a text leaves open, and compares
 * each with all others.
 */
const stepsMax = 300;

/**
 * Undefined where no grammar holds it: for what is no expression, looks ahead or behind, refers back, has
 * an edge in its middle, or leaves so much open that it would keep the model process from everybody else.
 */
export function textsOf(pattern: string): Texts | undefined {
  try {
    const whole = anchored(parsePattern(pattern));
    const { places, steps, widest } = new Places().measure(whole);
    if (steps > stepsMax) return undefined;
    const { shortest, longest } = lengthsOf(whole);
    return { expression: write(whole), shortest, longest, places, ways: widest };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

const anything: WrittenPattern = {
  kind: 'repetition',
  item: { kind: 'character', character: '.' },
  min: 0,
  max: Infinity,
};

/** An expression is looked for anywhere: what it leaves open at an end is any text. */
function anchored(pattern: WrittenPattern): WrittenPattern {
  if (pattern.kind !== 'choice') return pattern;
  return { kind: 'choice', items: pattern.items.map(anchoredSequence) };
}

function anchoredSequence(pattern: WrittenPattern): WrittenPattern {
  const items = pattern.kind === 'sequence' ? pattern.items : [pattern];
  const begins = isEdge(items[0], '^');
  const ends = isEdge(items.at(-1), '$');
  const inner = items.slice(begins ? 1 : 0, ends ? -1 : undefined);
  const whole = [...(begins ? [] : [anything]), ...inner, ...(ends ? [] : [anything])];
  return { kind: 'sequence', items: whole };
}

function isEdge(pattern: WrittenPattern | undefined, edge: '^' | '$'): boolean {
  return pattern?.kind === 'edge' && pattern.edge === edge;
}

function write(pattern: WrittenPattern): string {
  switch (pattern.kind) {
    case 'character':
      return writeCharacter(pattern.character);
    case 'edge':
      throw new SyntaxError('an edge stands in the middle');
    case 'sequence':
      return pattern.items.length === 0 ? '""' : pattern.items.map(write).join(' ');
    case 'choice': {
      const choices = pattern.items.map(write);
      return choices.length === 1 ? `( ${choices[0]} )` : `( ${choices.join(' | ')} )`;
    }
    default:
      return lengthsOf(pattern).longest === 0 ? '""' : `${write(pattern.item)}${timesOf(pattern)}`;
  }
}

function writeCharacter(source: string): string {
  const set = readCharacters(source);
  const written = set && writeCharacters(set);
  if (written === undefined) throw new SyntaxError('characters that are not written here');
  return written;
}

function timesOf({ min, max }: { readonly min: number; readonly max: number }): string {
  return max === Infinity ? `{${min},}` : `{${min},${max}}`;
}

function lengthsOf(pattern: WrittenPattern): {
  readonly shortest: number;
  readonly longest: number;
} {
  switch (pattern.kind) {
    case 'character':
      return { shortest: 1, longest: 1 };
    case 'edge':
      return { shortest: 0, longest: 0 };
    case 'sequence': {
      const parts = pattern.items.map(lengthsOf);
      return {
        shortest: parts.reduce((sum, { shortest }) => sum + shortest, 0),
        longest: parts.reduce((sum, { longest }) => sum + longest, 0),
      };
    }
    case 'choice': {
      const parts = pattern.items.map(lengthsOf);
      return {
        shortest: Math.min(...parts.map(({ shortest }) => shortest)),
        longest: Math.max(...parts.map(({ longest }) => longest)),
      };
    }
    default: {
      const { shortest, longest } = lengthsOf(pattern.item);
      return {
        shortest: shortest * pattern.min,
        longest: longest === 0 || pattern.max === 0 ? 0 : longest * pattern.max,
      };
    }
  }
}

/** Where a part may begin and end, by the numbers of its places, and whether it may be empty. */
interface Part {
  readonly first: readonly number[];
  readonly last: readonly number[];
  readonly isEmpty: boolean;
}

const nothing: Part = { first: [], last: [], isEmpty: true };

/** The places of an expression and what may follow on each (Glushkov, 1961). */
class Places {
  readonly #next: Set<number>[] = [];

  /** How many there are, the steps between them, and those from one at most. Throws `SyntaxError` for too many. */
  measure(pattern: WrittenPattern) {
    const { first } = this.#of(pattern);
    const sizes = [first.length, ...this.#next.map(({ size }) => size)];
    const steps = sizes.reduce((sum, size) => sum + size, 0);
    return { places: this.#next.length, steps, widest: Math.max(...sizes) };
  }

  #of(pattern: WrittenPattern): Part {
    switch (pattern.kind) {
      case 'character':
        return this.#place();
      case 'edge':
        return nothing;
      case 'sequence':
        return pattern.items.reduce<Part>(
          (part, item) => this.#join(part, this.#of(item)),
          nothing,
        );
      case 'choice':
        return eitherOf(pattern.items.map((item) => this.#of(item)));
      default:
        return this.#repetition(pattern);
    }
  }

  #place(): Part {
    if (this.#next.length >= placesMax) throw new SyntaxError('it has too many places');
    const place = this.#next.push(new Set()) - 1;
    return { first: [place], last: [place], isEmpty: false };
  }

  #repetition({ item, min, max }: WrittenPattern & { readonly kind: 'repetition' }): Part {
    const sample = max === 0 ? nothing : this.#of(item);
    // However often it stands there it has no place.
    if (sample.first.length === 0) return nothing;
    // llama.cpp would follow it round in a circle.
    if (max === Infinity && sample.isEmpty) throw new SyntaxError('it repeats what may be empty');
    let whole = min > 0 ? sample : nothing;
    for (let time = 1; time < min; time += 1) whole = this.#join(whole, this.#of(item));
    if (max === Infinity) {
      const again = min > 0 ? this.#of(item) : sample;
      this.#follow(again, again);
      return this.#join(whole, { ...again, isEmpty: true });
    }
    let rest = min > 0 ? nothing : { ...sample, isEmpty: true };
    for (let time = Math.max(min, 1); time < max; time += 1)
      rest = { ...this.#join(this.#of(item), rest), isEmpty: true };
    return this.#join(whole, rest);
  }

  #join(one: Part, other: Part): Part {
    this.#follow(one, other);
    return {
      first: one.isEmpty ? [...one.first, ...other.first] : one.first,
      last: other.isEmpty ? [...one.last, ...other.last] : other.last,
      isEmpty: one.isEmpty && other.isEmpty,
    };
  }

  #follow({ last }: Part, { first }: Part): void {
    for (const place of last) for (const next of first) this.#next[place]?.add(next);
  }
}

function eitherOf(parts: readonly Part[]): Part {
  return {
    first: parts.flatMap(({ first }) => first),
    last: parts.flatMap(({ last }) => last),
    isEmpty: parts.some(({ isEmpty }) => isEmpty),
  };
}
