import type { Fault } from '../../../kit/errors.ts';
import { isFields } from '../fields.ts';
import { literalText, pathText, placeholderText, within, type DataPlace } from '../paths.ts';
import { notTranslatable } from '../translation.ts';
import { readTokens, type Token } from './tokens.ts';

/** What a step sees of others. */
export interface Sight {
  /** What `$json` is: the data that comes in. */
  own(): DataPlace;
  /** What `$('name')` gives; undefined when there is no such step. */
  of(name: string): DataPlace | undefined;
  /** Told what of an expression is not quite the same here. */
  note?(difference: string): void;
}

/** An expression that was understood. */
type Term =
  | { readonly kind: 'place'; readonly place: DataPlace; readonly filters: readonly string[] }
  | { readonly kind: 'value'; readonly value: string | number | boolean | null };

/** A value of a setting in our language; Fault `invalid` (`not_translatable`) for what needs JavaScript. */
export function translate(value: unknown, sight: Sight): unknown {
  if (typeof value === 'string') return translateText(value, sight);
  if (Array.isArray(value)) return value.map((one: unknown) => translate(one, sight));
  if (!isFields(value)) return value;
  const fields = Object.entries(value).map(([name, one]) => [name, translate(one, sight)] as const);
  return Object.fromEntries(fields);
}

/** The place that a text is nothing but an expression of; undefined when it is more, or fixed. */
export function placeOf(value: unknown, sight: Sight): DataPlace | undefined {
  if (typeof value !== 'string' || !value.startsWith('=')) return undefined;
  const [, inner] = loneExpression.exec(value) ?? [];
  if (inner === undefined || inner.includes('{{')) return undefined;
  const term = parse(inner, sight);
  if (term.kind !== 'place') return undefined;
  if (term.filters.length > 0) throw untranslatable(inner);
  return term.place;
}

/** A value as it stands in a form: fixed text and what expressions give are encoded. */
export function translateForm(value: unknown, sight: Sight): string {
  if (typeof value !== 'string')
    return encodeForm(value === undefined ? '' : JSON.stringify(value));
  if (!isExpression(value)) return encodeForm(value.replace(/^=/, ''));
  return translatePieces(value, {
    fixed: encodeForm,
    given: (inner) => {
      const term = parse(inner, sight);
      if (term.kind === 'value') return encodeForm(String(term.value ?? ''));
      return placeholderOf({ ...term, filters: [...term.filters, 'url_encode'] });
    },
  });
}

function encodeForm(text: string): string {
  return encodeURIComponent(text).replaceAll('%20', '+');
}

/** Whether a setting is an expression. */
export function isExpression(value: unknown): boolean {
  return typeof value === 'string' && value.startsWith('=') && value.includes('{{');
}

/** Whether a setting is one expression and nothing else, so that its value has any type. */
export function isLoneExpression(value: unknown): boolean {
  return typeof value === 'string' && loneExpression.exec(value)?.[1]?.includes('{{') === false;
}

const loneExpression = /^=\s*\{\{([^]*?)\}\}\s*$/;

/** For what only a script engine could do. */
export function untranslatable(expression: string): Fault {
  return notTranslatable(
    `the expression ${expression.trim().slice(0, 120)} needs JavaScript, which is never run`,
  );
}

function translateText(text: string, sight: Sight): string {
  if (!text.startsWith('=')) return literalText(text);
  return translatePieces(text, {
    fixed: literalText,
    given: (inner) => liquidOf(parse(inner, sight)),
  });
}

interface PieceWriters {
  readonly fixed: (text: string) => string;
  /** For what stands between braces. */
  readonly given: (inner: string) => string;
}

function translatePieces(text: string, { fixed, given }: PieceWriters): string {
  const pieces = text.slice(1).split(/\{\{([^]*?)\}\}/);
  // Every second piece is what stood between braces.
  return pieces.map((piece, at) => (at % 2 === 0 ? fixed(piece) : given(piece))).join('');
}

function liquidOf(term: Term): string {
  return term.kind === 'value' ? literalText(String(term.value ?? '')) : placeholderOf(term);
}

function placeholderOf({ place, filters }: Extract<Term, { readonly kind: 'place' }>): string {
  if (filters.length === 0) return placeholderText(place);
  return `{{ ${[pathText(place), ...filters].join(' | ')} }}`;
}

function parse(expression: string, sight: Sight): Term {
  const tokens = readTokens(expression);
  if (!tokens) throw untranslatable(expression);
  const parser = new Parser(tokens, sight);
  const term = parser.alternative();
  if (!term || !parser.isAtEnd) throw untranslatable(expression);
  return term;
}

/** Reads paths, a few methods and alternatives; whatever else there is stays unread. */
class Parser {
  readonly #tokens: readonly Token[];
  readonly #sight: Sight;
  #at = 0;

  constructor(tokens: readonly Token[], sight: Sight) {
    this.#tokens = tokens;
    this.#sight = sight;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#tokens.length;
  }

  /** `a || b`, `a ?? b`: the first that is there. */
  alternative(): Term | undefined {
    let term = this.#chain();
    for (let sign = this.#alternativeSign(); term?.kind === 'place' && sign;) {
      const other = this.#chain();
      if (!other || (other.kind === 'place' && other.filters.length > 0)) return undefined;
      const text = other.kind === 'place' ? pathText(other.place) : JSON.stringify(other.value);
      const rest = sign === '??' ? ', allow_false: true' : '';
      term = { ...term, filters: [...term.filters, `default: ${text}${rest}`] };
      this.#sight.note?.(alternativeNotes[sign]);
      sign = this.#alternativeSign();
    }
    return term;
  }

  #alternativeSign(): keyof typeof alternativeNotes | undefined {
    if (this.#take('||')) return '||';
    return this.#take('??') ? '??' : undefined;
  }

  #chain(): Term | undefined {
    const start = this.#start();
    if (start?.kind !== 'place') return start;
    const steps: (string | number)[] = [];
    const filters = [...start.filters];
    for (let more = true; more;) {
      more = filters.length === 0 && this.#step(steps);
      if (more) continue;
      const filter = this.#method();
      if (filter === undefined) break;
      filters.push(filter);
      more = true;
    }
    const last = steps.at(-1);
    if (last === 'length') {
      steps.pop();
      filters.unshift('size');
    }
    return { kind: 'place', place: within(start.place, steps), filters };
  }

  // A table of first words.
  // oxlint-disable-next-line complexity
  #start(): Term | undefined {
    const token = this.#tokens[this.#at];
    this.#at += 1;
    if (token?.kind === 'string') return { kind: 'value', value: token.text };
    if (token?.kind === 'number') return { kind: 'value', value: Number(token.text) };
    if (token?.kind !== 'word') return undefined;
    if (token.text === 'true' || token.text === 'false') {
      return { kind: 'value', value: token.text === 'true' };
    }
    if (token.text === 'null' || token.text === 'undefined') return { kind: 'value', value: null };
    if (token.text === 'JSON') return this.#stringify();
    const place = this.#root(token.text);
    return place && { kind: 'place', place, filters: [] };
  }

  #root(word: string): DataPlace | undefined {
    if (word === '$json') return this.#sight.own();
    if (word === '$input') return this.#item() ? this.#sight.own() : undefined;
    if (word === '$') return this.#named('(', ')');
    if (word === '$node') return this.#named('[', ']');
    if (word === '$execution' && this.#takeAll(['.', 'id'])) {
      return { root: 'execution', steps: ['id'] };
    }
    if (word === '$workflow' && this.#takeAll(['.', 'id'])) {
      return { root: 'execution', steps: ['workflowId'] };
    }
    return undefined;
  }

  #named(open: string, close: string): DataPlace | undefined {
    if (!this.#take(open)) return undefined;
    const name = this.#tokens[this.#at];
    this.#at += 1;
    if (name?.kind !== 'string' || !this.#take(close)) return undefined;
    const isRead = open === '[' ? this.#takeAll(['.', 'json']) : this.#item();
    return isRead ? this.#sight.of(name.text) : undefined;
  }

  /** The one item that there is here: `.item.json`, `.first().json`, `.last().json`. */
  #item(): boolean {
    if (this.#takeAll(['.', 'item', '.', 'json'])) return true;
    const ways = ['first', 'last'].map((way) => ['.', way, '(', ')', '.', 'json']);
    return ways.some((way) => this.#takeAll(way));
  }

  #stringify(): Term | undefined {
    if (!this.#takeAll(['.', 'stringify', '('])) return undefined;
    const term = this.alternative();
    if (term?.kind !== 'place' || !this.#take(')')) return undefined;
    return { ...term, filters: [...term.filters, 'json'] };
  }

  // Two shapes of three tokens.
  // oxlint-disable-next-line complexity
  #step(steps: (string | number)[]): boolean {
    const [dot, name, behind] = this.#tokens.slice(this.#at, this.#at + 3);
    const isDot = dot?.text === '.' || dot?.text === '?.';
    if (isDot && name?.kind === 'word' && behind?.text !== '(') {
      this.#at += 2;
      steps.push(name.text);
      return true;
    }
    const isIndexed = dot?.text === '[' && behind?.text === ']';
    if (!isIndexed || (name?.kind !== 'string' && name?.kind !== 'number')) return false;
    this.#at += 3;
    steps.push(name.kind === 'number' ? Number(name.text) : name.text);
    return true;
  }

  #method(): string | undefined {
    const [dot, name, open] = this.#tokens.slice(this.#at, this.#at + 3);
    const filter = dot?.text === '.' && open?.text === '(' ? methods[name?.text ?? ''] : undefined;
    if (filter === undefined) return undefined;
    const inner = this.#tokens.slice(this.#at + 3);
    const end = inner.findIndex(({ kind, text }) => kind === 'sign' && text === ')');
    const given = inner.slice(0, Math.max(0, end)).filter(({ text }) => text !== ',');
    const isFixed = given.every(({ kind }) => kind === 'string' || kind === 'number');
    if (end < 0 || !isFixed || given.length !== filter.arguments) return undefined;
    this.#at += 3 + end + 1;
    const values = given.map(({ kind, text }) => (kind === 'number' ? text : JSON.stringify(text)));
    return values.length > 0 ? `${filter.name}: ${values.join(', ')}` : filter.name;
  }

  #take(text: string): boolean {
    return this.#takeAll([text]);
  }

  #takeAll(texts: readonly string[]): boolean {
    const isNext = texts.every((text, at) => {
      const token = this.#tokens[this.#at + at];
      return token?.text === text && token.kind !== 'string';
    });
    if (isNext) this.#at += texts.length;
    return isNext;
  }
}

const alternativeNotes = {
  '||': 'its `||` takes the other value for an empty list too, and not for 0',
  '??': 'its `??` takes the other value for an empty text or list too',
};

const methods: Readonly<Record<string, { readonly name: string; readonly arguments: number }>> =
  Object.assign(Object.create(null), {
    toLowerCase: { name: 'downcase', arguments: 0 },
    toUpperCase: { name: 'upcase', arguments: 0 },
    trim: { name: 'strip', arguments: 0 },
    toString: { name: 'append: ""', arguments: 0 },
    toJsonString: { name: 'json', arguments: 0 },
    parseJson: { name: 'parse_json', arguments: 0 },
    join: { name: 'join', arguments: 1 },
    split: { name: 'split', arguments: 1 },
    replace: { name: 'replace_first', arguments: 2 },
    replaceAll: { name: 'replace', arguments: 2 },
    first: { name: 'first', arguments: 0 },
    last: { name: 'last', arguments: 0 },
  });
