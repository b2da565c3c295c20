import { Fault } from '../../../kit/errors.ts';
import type { Pattern } from '../../../kit/patterns/pattern.ts';

/** Whether a character is one of those that are meant. */
export type Test = (character: string) => boolean;
/** Whether a place in a text is one of those that are meant. */
export type Assertion = (text: string, place: number) => boolean;

/** Characters and places between them are said by what holds of them. */
export type TestedPattern = Pattern<Test, Assertion>;

/** Parses RE2's syntax without names, back references and what looks ahead or behind. */
export function parsePattern(pattern: string): TestedPattern {
  const flags = /^\(\?([is]+)\)/.exec(pattern);
  const reader = new PatternReader(pattern.slice(flags?.[0].length ?? 0), flags?.[1] ?? '');
  return reader.readAll();
}

/** The fault of a pattern that is none. */
export function badPattern(what: string): Fault {
  return new Fault('invalid', `the pattern ${what}`, { reason: 'bad_expression' });
}

const repeatMax = 1_000;
const depthMax = 50;

const isDigit: Test = (character) => character >= '0' && character <= '9';
const isWord: Test = (character) => /^[A-Za-z0-9_]$/.test(character);
const isNoLineFeed: Test = (character) => character !== '\n';
const isSpace: Test = (character) => /^[\t\n\f\r ]$/.test(character);
const not =
  (test: Test): Test =>
  (character) =>
    !test(character);

const classes: Readonly<Record<string, Test>> = {
  d: isDigit,
  D: not(isDigit),
  w: isWord,
  W: not(isWord),
  s: isSpace,
  S: not(isSpace),
};
const controls: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', f: '\f', v: '\v' };

function isBoundary(text: string, place: number): boolean {
  return isWord(text[place - 1] ?? '') !== isWord(text[place] ?? '');
}

const assertions: Readonly<Record<string, Assertion>> = {
  b: isBoundary,
  B: (text, place) => !isBoundary(text, place),
  A: (_text, place) => place === 0,
  z: (text, place) => place === text.length,
};

class PatternReader {
  readonly #pattern: string;
  readonly #ignoresCase: boolean;
  readonly #dotTakesAll: boolean;
  #place = 0;
  #depth = 0;

  constructor(pattern: string, flags: string) {
    this.#pattern = pattern;
    this.#ignoresCase = flags.includes('i');
    this.#dotTakesAll = flags.includes('s');
  }

  readAll(): TestedPattern {
    const tree = this.#readChoice();
    if (this.#place < this.#pattern.length) throw badPattern('has a ) too many');
    return tree;
  }

  #readChoice(): TestedPattern {
    this.#depth += 1;
    if (this.#depth > depthMax) throw badPattern('is nested too deeply');
    const items = [this.#readSequence()];
    while (this.#accept('|')) items.push(this.#readSequence());
    this.#depth -= 1;
    return { kind: 'choice', items };
  }

  #readSequence(): TestedPattern {
    const items: TestedPattern[] = [];
    for (;;) {
      const next = this.#pattern[this.#place];
      if (next === undefined || next === '|' || next === ')') return { kind: 'sequence', items };
      items.push(this.#readRepeats(this.#readOne()));
    }
  }

  #readRepeats(item: TestedPattern): TestedPattern {
    const bounds = this.#readBounds();
    if (!bounds) return item;
    // Whether it takes as much as it can makes no difference to a yes or no.
    this.#accept('?');
    if (this.#readBounds()) throw badPattern('repeats a repetition');
    return { kind: 'repetition', item, ...bounds };
  }

  #readBounds(): { readonly min: number; readonly max: number } | undefined {
    if (this.#accept('*')) return { min: 0, max: Infinity };
    if (this.#accept('+')) return { min: 1, max: Infinity };
    if (this.#accept('?')) return { min: 0, max: 1 };
    const counted = /^\{(\d{1,4})(,?)(\d{0,4})\}/.exec(this.#pattern.slice(this.#place));
    if (!counted) return undefined;
    const [whole, from = '', comma, to] = counted;
    this.#place += whole.length;
    const min = Number(from);
    const max = comma === '' ? min : to ? Number(to) : Infinity;
    const isSound = min <= repeatMax && max >= min && (max === Infinity || max <= repeatMax);
    if (!isSound) throw badPattern(`repeats ${whole}, which cannot be or is too much`);
    return { min, max };
  }

  #readOne(): TestedPattern {
    const character = this.#next();
    if (character === '(') return this.#readGroup();
    if (character === '[') return { kind: 'character', character: this.#readSet() };
    if (character === '\\') return this.#readEscape();
    if (character === '^') return { kind: 'edge', edge: (_text, place) => place === 0 };
    if (character === '$') return { kind: 'edge', edge: (text, place) => place === text.length };
    if ('*+?'.includes(character)) throw badPattern('repeats nothing');
    if (character !== '.') return { kind: 'character', character: this.#same(character) };
    return { kind: 'character', character: this.#dotTakesAll ? () => true : isNoLineFeed };
  }

  #readGroup(): TestedPattern {
    if (this.#accept('?') && !this.#accept(':')) {
      throw badPattern('uses a group that is not offered; only ( ) and (?: )');
    }
    const tree = this.#readChoice();
    if (!this.#accept(')')) throw badPattern('lacks a )');
    return tree;
  }

  #readEscape(): TestedPattern {
    const letter = this.#next();
    const edge = assertions[letter];
    if (edge) return { kind: 'edge', edge };
    const character = classes[letter] ?? this.#same(this.#escaped(letter));
    return { kind: 'character', character };
  }

  #escaped(letter: string): string {
    const control = controls[letter];
    if (control !== undefined) return control;
    if (letter === 'x') {
      const hex = /^[0-9a-fA-F]{2}/.exec(this.#pattern.slice(this.#place))?.[0];
      if (hex === undefined) throw badPattern('has an \\x without two hex digits');
      this.#place += 2;
      return String.fromCharCode(Number.parseInt(hex, 16));
    }
    if (/^[A-Za-z0-9]$/.test(letter)) throw badPattern(`uses \\${letter}, which is not offered`);
    return letter;
  }

  #readSet(): Test {
    const isNegated = this.#accept('^');
    const tests: Test[] = [];
    do {
      tests.push(this.#readSetPart());
    } while (!this.#accept(']'));
    const has: Test = (character) => tests.some((test) => test(character));
    return isNegated ? not(has) : has;
  }

  #readSetPart(): Test {
    const first = this.#next();
    const letter = first === '\\' ? this.#next() : '';
    const named = classes[letter];
    if (named) return named;
    const low = first === '\\' ? this.#escaped(letter) : first;
    const rest = this.#pattern.slice(this.#place, this.#place + 2);
    if (!rest.startsWith('-') || rest === '-]' || rest === '-') return this.#same(low);
    this.#place += 1;
    const last = this.#next();
    const high = last === '\\' ? this.#escaped(this.#next()) : last;
    if (high < low) throw badPattern(`has the range ${low}-${high}, which is the wrong way round`);
    return this.#inRange(low, high);
  }

  #inRange(low: string, high: string): Test {
    const has: Test = (character) => character >= low && character <= high;
    if (!this.#ignoresCase) return has;
    return (taken) => has(taken) || has(taken.toLowerCase()) || has(taken.toUpperCase());
  }

  #same(character: string): Test {
    if (!this.#ignoresCase) return (taken) => taken === character;
    const lower = character.toLowerCase();
    return (taken) => taken.toLowerCase() === lower;
  }

  #next(): string {
    const code = this.#pattern.codePointAt(this.#place);
    if (code === undefined) throw badPattern('ends too early');
    const character = String.fromCodePoint(code);
    this.#place += character.length;
    return character;
  }

  #accept(character: string): boolean {
    const isNext = this.#pattern[this.#place] === character;
    if (isNext) this.#place += 1;
    return isNext;
  }
}
