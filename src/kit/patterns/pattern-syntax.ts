import type { Pattern } from './pattern.ts';

/** A place between characters. */
export type EdgeKind = '^' | '$' | '\\b' | '\\B';

/** A character is said as it is written: a set, an escape, or itself. */
export type WrittenPattern = Pattern<string, EdgeKind>;

const repetitionsMax = 1_000;
const depthMax = 50;

/**
 * Reads a regular expression of JavaScript's. Throws `SyntaxError` for what is none, and for references back and looks
 * ahead or behind, which neither a linear-time search nor a grammar can follow.
 */
export function parsePattern(source: string): WrittenPattern {
  // Says in its own words what is wrong with an expression that is none at all.
  void new RegExp(source, 'u');
  return new PatternReader(source).read();
}

class PatternReader {
  readonly #source: string;
  #at = 0;
  #depth = 0;

  constructor(source: string) {
    this.#source = source;
  }

  read(): WrittenPattern {
    const pattern = this.#readChoice();
    if (this.#at < this.#source.length) throw new SyntaxError('a bracket is closed twice');
    return pattern;
  }

  #readChoice(): WrittenPattern {
    const items = [this.#readSequence()];
    while (this.#take(/\|/y)) items.push(this.#readSequence());
    return { kind: 'choice', items };
  }

  #readSequence(): WrittenPattern {
    const items: WrittenPattern[] = [];
    while (this.#at < this.#source.length && !/[|)]/.test(this.#source[this.#at] ?? '')) {
      items.push(this.#readRepetition(this.#readAtom()));
    }
    return { kind: 'sequence', items };
  }

  #readAtom(): WrittenPattern {
    const edge = this.#take(/\^|\$|\\b|\\B/y);
    if (edge) return { kind: 'edge', edge: edge as EdgeKind };
    if (this.#take(/\(\?(?:[=!]|<[=!])/y)) throw new SyntaxError('it looks ahead or behind');
    if (this.#take(/\((?:\?:|\?<\w+>)?/y)) return this.#readGroup();
    if (this.#take(/\\(?:[1-9]|k<)/y)) throw new SyntaxError('it refers back to a group');
    return { kind: 'character', character: this.#take(characterPattern) ?? '' };
  }

  #readGroup(): WrittenPattern {
    this.#depth += 1;
    if (this.#depth > depthMax) throw new SyntaxError('its groups are nested too deeply');
    const pattern = this.#readChoice();
    this.#take(/\)/y);
    this.#depth -= 1;
    return pattern;
  }

  #readRepetition(item: WrittenPattern): WrittenPattern {
    const sign = this.#take(/(?:[*+?]|\{\d+(?:,\d*)?\})\??/y);
    if (!sign) return item;
    const [min, max] = timesOf(sign);
    const most = max === Number.POSITIVE_INFINITY ? min : max;
    if (most > repetitionsMax)
      throw new SyntaxError(`it repeats more than ${repetitionsMax} times`);
    return { kind: 'repetition', item, min, max };
  }

  #take(expression: RegExp): string | undefined {
    expression.lastIndex = this.#at;
    const [found] = expression.exec(this.#source) ?? [];
    this.#at += found?.length ?? 0;
    return found;
  }
}

const characterPattern =
  /\[(?:\\[^]|[^\]\\])*\]|\\(?:p\{[^}]*\}|P\{[^}]*\}|u\{[^}]*\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|c[A-Za-z]|[^])|[^]/uy;

function timesOf(sign: string): readonly [number, number] {
  if (sign.startsWith('*')) return [0, Number.POSITIVE_INFINITY];
  if (sign.startsWith('+')) return [1, Number.POSITIVE_INFINITY];
  if (sign.startsWith('?')) return [0, 1];
  const [, min = '0', comma, max] = /\{(\d+)(,?)(\d*)\}/.exec(sign) ?? [];
  if (!comma) return [Number(min), Number(min)];
  return [Number(min), max ? Number(max) : Number.POSITIVE_INFINITY];
}
