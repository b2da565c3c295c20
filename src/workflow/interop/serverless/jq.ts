import type { Fault } from '../../../kit/errors.ts';
import { isFields } from '../fields.ts';
import { guardedPath } from '../guards.ts';
import { literalText, pathText, placeholderText, within, type DataPlace } from '../paths.ts';
import { notTranslatable } from '../translation.ts';
import { compareJq, lengthOf, ranks, truthOf, type Operand } from './jq-null.ts';

/** What the expressions of a task see. */
export interface JqSight {
  /** The data that comes in: `.`. */
  readonly own: DataPlace;
  /** Variables, without the `$`. */
  readonly variables: Readonly<Record<string, DataPlace>>;
  /** Told what of an expression is not quite the same here. */
  readonly note?: (difference: string) => void;
}

/** A value with its runtime expressions in our language; Fault `invalid` (`not_translatable`). */
export function translateJq(value: unknown, sight: JqSight): unknown {
  if (typeof value === 'string') return translateText(value, sight);
  if (Array.isArray(value)) return value.map((one: unknown) => translateJq(one, sight));
  if (!isFields(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, translateJq(v, sight)]));
}

/** A condition in jq, with or without `${ }`, as CEL; Fault `invalid` (`not_translatable`). */
export function conditionOfJq(text: string, sight: JqSight): string {
  const parser = new JqParser(innerOf(text) ?? text, sight);
  return parser.all(() => parser.either());
}

/** The place that a lone path names. */
export function placeOfJq(text: string, sight: JqSight): DataPlace {
  const parser = new JqParser(innerOf(text) ?? text, sight);
  return parser.all(() => parser.place());
}

/** The same for data, in which what an expression does not find is null. */
export function translateData(value: unknown, sight: JqSight): unknown {
  if (typeof value === 'string') return translateText(value, sight, ' | json | parse_json');
  if (Array.isArray(value)) return value.map((one: unknown) => translateData(one, sight));
  if (!isFields(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, translateData(v, sight)]));
}

function translateText(text: string, sight: JqSight, filters = ''): string {
  const inner = innerOf(text);
  if (inner === undefined) return literalText(text);
  const parser = new JqParser(inner, sight);
  return parser.all(() => {
    if (parser.isJoined()) return joinedText(parser.joined(), sight);
    const found = parser.place();
    const other = parser.alternative();
    if (other !== undefined) {
      sight.note?.('its `//` takes the other value for an empty text or list too');
      return `{{ ${pathText(found)} | default: ${other} }}`;
    }
    // All that came in is always there.
    return inner === '.' ? placeholderText(found) : `{{ ${pathText(found)}${filters} }}`;
  });
}

/** Texts and what stands between them; jq takes no number there unless it is made a text of. */
function joinedText(parts: readonly (string | DataPlace)[], sight: JqSight): string {
  sight.note?.('where there is nothing, a joined text has nothing in place of `null`');
  return parts
    .map((part) => (typeof part === 'string' ? literalText(part) : placeholderText(part)))
    .join('');
}

function innerOf(text: string): string | undefined {
  return /^\s*\$\{([^]*)\}\s*$/.exec(text)?.[1]?.trim();
}

const token =
  /\s*(?:(?<path>\$?[A-Za-z_]\w*|\.(?:[A-Za-z_]\w*|(?=[\s[)|/+]|$)|(?="))|\.)|(?<text>"(?:[^"\\]|\\.)*")|(?<number>-?\d+(?:\.\d+)?)|(?<sign>==|!=|<=|>=|<|>|\/\/|[()|[\]+]))/y;

const comparisons = new Set(['==', '!=', '<', '>', '<=', '>=']);

class JqParser {
  readonly #text: string;
  readonly #tokens: string[] = [];
  readonly #sight: JqSight;
  #at = 0;

  constructor(text: string, sight: JqSight) {
    this.#text = text;
    this.#sight = sight;
    token.lastIndex = 0;
    const whole = text.trimEnd();
    while (token.lastIndex < whole.length) {
      const [found] = token.exec(whole) ?? [];
      if (found === undefined || found.trim() === '') throw this.#fault();
      this.#tokens.push(found.trim());
    }
  }

  /** What is read, when that is all there is. */
  all<Result>(read: () => Result): Result {
    const result = read();
    if (this.#at < this.#tokens.length) throw this.#fault();
    return result;
  }

  either(): string {
    const parts = [this.#both()];
    while (this.#take('or')) parts.push(this.#both());
    return parts.length > 1 ? `(${parts.join(' || ')})` : (parts[0] ?? '');
  }

  /** `// other`: a fixed value for when there is none. */
  alternative(): string | undefined {
    if (!this.#take('//')) return undefined;
    const next = this.#next();
    if (/^["\d-]|^(true|false)$/.test(next)) return next;
    throw this.#fault();
  }

  /** Whether it joins texts, of which at least one is fixed. */
  isJoined(): boolean {
    return this.#tokens.includes('+') && this.#tokens.some((one) => one.startsWith('"'));
  }

  /** `"a" + .b + (.c | tostring)`. */
  joined(): readonly (string | DataPlace)[] {
    const parts = [this.#joinedPart()];
    while (this.#take('+')) parts.push(this.#joinedPart());
    return parts;
  }

  place(): DataPlace {
    const first = this.#next();
    const steps: (string | number)[] = [];
    let root = this.#sight.own;
    if (first.startsWith('$'))
      root = this.#variable(first === '$workflow' ? this.#next().slice(1) : first.slice(1));
    else if (first.startsWith('.')) steps.push(...(first.length > 1 ? [first.slice(1)] : []));
    else throw this.#fault();
    for (;;) {
      const next = this.#tokens[this.#at] ?? '';
      if (/^\.[A-Za-z_]/.test(next)) steps.push(next.slice(1));
      else if (next === '.' && this.#tokens[this.#at + 1]?.startsWith('"')) {
        this.#at += 1;
        steps.push(this.#string());
      } else if (next === '[') {
        steps.push(this.#index());
        continue;
      } else break;
      this.#at += 1;
    }
    return within(root, steps);
  }

  #joinedPart(): string | DataPlace {
    if (this.#tokens[this.#at]?.startsWith('"')) return JSON.parse(this.#next()) as string;
    if (!this.#take('(')) return this.place();
    const place = this.place();
    if (this.#take('|') && this.#take('tostring') && this.#take(')')) return place;
    throw this.#fault();
  }

  #both(): string {
    const parts = [this.#comparison()];
    while (this.#take('and')) parts.push(this.#comparison());
    return parts.join(' && ');
  }

  #comparison(): string {
    const left = this.#operand();
    const sign = this.#tokens[this.#at] ?? '';
    if (!comparisons.has(sign)) return truthOf(left);
    this.#at += 1;
    const right = this.#operand();
    const isOrder = sign !== '==' && sign !== '!=';
    const isOpen = [left, right].every(
      ({ rank, isThere }) => rank === undefined && isThere !== undefined,
    );
    if (isOrder && isOpen) this.#sight.note?.('lists and objects are not ordered among each other');
    return compareJq(left, sign, right);
  }

  #operand(): Operand {
    let operand = this.#plainOperand();
    while (this.#take('|')) {
      if (this.#take('not')) operand = { text: `!(${truthOf(operand)})` };
      else if (this.#take('length')) operand = lengthOf(operand);
      else throw this.#fault();
    }
    return operand;
  }

  #plainOperand(): Operand {
    if (this.#take('(')) {
      const inner = this.either();
      if (!this.#take(')')) throw this.#fault();
      return { text: `(${inner})` };
    }
    const next = this.#tokens[this.#at] ?? '';
    if (/^["\d-]|^(true|false|null)$/.test(next)) {
      this.#at += 1;
      return { text: next, rank: rankOfLiteral(next) };
    }
    return guardedPath(this.place());
  }

  #index(): string | number {
    const [, index = '', close] = this.#tokens.slice(this.#at, this.#at + 3);
    if (close !== ']' || !/^("|\d)/.test(index)) throw this.#fault();
    this.#at += 3;
    return index.startsWith('"') ? (JSON.parse(index) as string) : Number(index);
  }

  #string(): string {
    return JSON.parse(this.#tokens[this.#at] ?? '""') as string;
  }

  #variable(name: string): DataPlace {
    const place = Object.hasOwn(this.#sight.variables, name) && this.#sight.variables[name];
    if (place) return place;
    throw this.#fault();
  }

  #take(text: string): boolean {
    if (this.#tokens[this.#at] !== text) return false;
    this.#at += 1;
    return true;
  }

  #next(): string {
    this.#at += 1;
    return this.#tokens[this.#at - 1] ?? '';
  }

  #fault(): Fault {
    const text = this.#text.slice(0, 120);
    return notTranslatable(`the expression ${text} is more of jq than can be taken over`);
  }
}

function rankOfLiteral(text: string): number {
  if (text === 'null' || text === 'true' || text === 'false') return ranks[text];
  return text.startsWith('"') ? ranks.text : ranks.number;
}
