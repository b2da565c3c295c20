import { textOf, withoutPrototype, type Fields } from '../fields.ts';
import { guardedPath, orElse, type Guarded } from '../guards.ts';
import { notTranslatable } from '../translation.ts';
import { placeOf, type FindPlace } from './texts.ts';

/** A condition as CEL, and in words what of it is not quite the same here. */
export interface FlowiseCondition {
  readonly when: string;
  readonly note?: string;
}

/**
 * One condition of a Condition node: numbers are read out of texts, and what is none counts as 0;
 * texts are compared as they are written. Fault `invalid` (`not_translatable`).
 */
export function conditionOf(condition: Fields, find: FindPlace): FlowiseCondition {
  const { value1, value2, operation, type } = condition;
  const name = textOf(operation) || 'equal';
  const kind = orders.has(name) ? 'number' : textOf(type) || 'string';
  const write = operations[kind]?.[name];
  if (!write) {
    const told = `${name.slice(0, 64)} of a ${kind.slice(0, 32)}`;
    throw notTranslatable(`the comparison ${told} has no counterpart`);
  }
  const sides = [value1, value2].map((value) => partsOf(value, find));
  const [left = '', right = ''] = sides.map((parts) => writers[kind]?.(parts) ?? '');
  const hasVariable = sides.flat().some((part) => part.isThere !== undefined);
  const note = hasVariable ? notes[kind] : undefined;
  return { when: write(left, right), ...(note === undefined ? {} : { note }) };
}

/** A piece of a value: written out, or a variable. */
interface Part extends Guarded {
  readonly fixed?: unknown;
}

/** Rich text loses its marks; what stands between the variables is one piece each. */
function partsOf(value: unknown, find: FindPlace): readonly Part[] {
  if (typeof value !== 'string') return [fixedPart(value ?? '')];
  const plain = value.replaceAll(/<[^>]*>/g, '').trim();
  const parts = plain
    .split(/\{\{([^{}]*)\}\}/)
    .map((piece, at) => (at % 2 === 0 ? fixedPart(piece) : guardedPath(placeOf(piece, find))));
  return parts.length === 1 ? parts : parts.filter(({ text }) => text !== '""');
}

function fixedPart(fixed: unknown): Part {
  return { text: JSON.stringify(fixed), fixed };
}

/** What a text must be to be read as a number. */
const numberPattern = JSON.stringify(
  String.raw`^\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*$`,
);

const writers: Readonly<Record<string, (parts: readonly Part[]) => string>> = {
  string: (parts) => parts.map(textIn).join(' + ') || '""',
  number: (parts) => {
    const [part, ...rest] = parts;
    if (!part || rest.length > 0) throw notTranslatable('a number of several pieces is not read');
    return numberIn(part);
  },
  boolean: (parts) => {
    const [part, ...rest] = parts;
    if (!part || rest.length > 0) throw notTranslatable('yes or no of several pieces is not read');
    if (part.isThere !== undefined) return orElse(part, 'null');
    return part.fixed === 'true' || part.fixed === 'false' ? part.fixed : part.text;
  },
};

function textIn(part: Part): string {
  if (part.isThere === undefined) return JSON.stringify(String(part.fixed));
  const { text } = part;
  const isPlain = ['string', 'double', 'bool'].map((type) => `type(${text}) == ${type}`);
  return orElse(part, '""', `(${isPlain.join(' || ')} ? string(${text}) : "")`);
}

function numberIn(part: Part): string {
  if (part.isThere === undefined) {
    const number = Number.parseFloat(String(part.fixed));
    return String(Number.isFinite(number) ? number : 0);
  }
  const { text } = part;
  const isText = `type(${text}) == string && ${text}.matches(${numberPattern})`;
  const read = `(${isText} ? double(${text}.trim()) : 0.0)`;
  return orElse(part, '0.0', `(type(${text}) == double ? ${text} : ${read})`);
}

const notes: Readonly<Record<string, string>> = {
  string:
    'in a comparison of texts what is not there, a list or an object is an empty text, and Markdown stays',
  number: 'a text is a number only as a whole: “10 px” counts as 0',
  boolean: 'a variable is compared with yes or no by its value, not as a text',
};

type Write = (left: string, right: string) => string;

const infix =
  (sign: string): Write =>
  (left, right) =>
    `${left} ${sign} ${right}`;

const call =
  (name: string, isNegated = false): Write =>
  (left, right) =>
    `${isNegated ? '!' : ''}(${left}).${name}(${right})`;

const equality = { equal: infix('=='), notEqual: infix('!=') };

const ordering = {
  larger: infix('>'),
  largerEqual: infix('>='),
  smaller: infix('<'),
  smallerEqual: infix('<='),
};

/** They read numbers whatever the condition says that it compares. */
const orders: ReadonlySet<string> = new Set(Object.keys(ordering));

/** By the kind of the condition; a number is never empty, as what is none counts as 0. */
const operations: Readonly<Record<string, Readonly<Record<string, Write>>>> = withoutPrototype({
  string: withoutPrototype({
    ...equality,
    contains: call('contains'),
    notContains: call('contains', true),
    startsWith: call('startsWith'),
    endsWith: call('endsWith'),
    isEmpty: (left: string) => `${left} == ""`,
    notEmpty: (left: string) => `${left} != ""`,
  }),
  number: withoutPrototype({
    ...equality,
    ...ordering,
    isEmpty: () => 'false',
    notEmpty: () => 'true',
  }),
  boolean: withoutPrototype(equality),
});
