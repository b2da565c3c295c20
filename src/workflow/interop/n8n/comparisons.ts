import { numberOf, withoutPrototype } from '../fields.ts';
import { existenceOf, guardedPath, orElse, type Guarded } from '../guards.ts';
import { notTranslatable } from '../translation.ts';
import { isExpression, placeOf, untranslatable, type Sight } from './expressions.ts';

/** One comparison. */
export interface Comparison {
  readonly left: unknown;
  readonly right: unknown;
  readonly operation: string;
  /** `string`, `number`, `boolean`, … */
  readonly type: string;
  /** A value of another type is a failure. */
  readonly isStrict?: boolean;
}

/** One side of a comparison as CEL. */
interface Side extends Guarded {
  /** What it is, where it is written out. */
  readonly fixed?: unknown;
  readonly isStrict: boolean;
}

type Write = (left: Side, right: () => Side) => string;

/** One comparison as CEL: what is not there is an empty text or list, no number, and not true. */
export function compare(comparison: Comparison, sight: Sight): string {
  const { left, right, type } = comparison;
  const operation = oldNames[comparison.operation] ?? comparison.operation;
  const write = anyType[operation] ?? byType[type]?.[operation];
  if (!write) {
    const name = `${operation.slice(0, 64)} of a ${type.slice(0, 32)}`;
    throw notTranslatable(`the comparison ${name} has no counterpart`);
  }
  const { isStrict = false } = comparison;
  const side = (value: unknown) => sideOf(value, { type, isStrict }, sight);
  return write(side(left), () => side(right));
}

function sideOf(
  value: unknown,
  { type, isStrict }: { readonly type: string; readonly isStrict: boolean },
  sight: Sight,
): Side {
  const place = placeOf(value, sight);
  if (place) return { ...guardedPath(place), isStrict };
  if (isExpression(value)) throw untranslatable(String(value));
  const given = typeof value === 'string' && value.startsWith('=') ? value.slice(1) : value;
  const fixed = (type === 'number' ? numberOf(given) : undefined) ?? given ?? '';
  const isWord = type === 'boolean' && (fixed === 'true' || fixed === 'false');
  return { text: isWord ? fixed : JSON.stringify(fixed), fixed, isStrict };
}

/** A side, or what stands in for a value that is not there; `typed` fails for other types. */
function valueOf(side: Side, none: string, typed: string): string {
  const isFixed = side.isThere === undefined || !side.isStrict;
  return orElse(side, none, isFixed ? side.text : typed);
}

const stringOf = (side: Side): string => valueOf(side, '""', `${side.text} + ""`);
const listOf = (side: Side): string => valueOf(side, '[]', `${side.text} + []`);
const scalarOf =
  (type: 'number' | 'boolean') =>
  (side: Side): string =>
    valueOf(side, 'null', type === 'number' ? `${side.text} * 1` : `(${side.text} && true)`);

const infix =
  (sign: string, of: (side: Side) => string): Write =>
  (left, right) =>
    `${of(left)} ${sign} ${of(right())}`;
const call =
  (name: string, isNegated = false): Write =>
  (left, right) =>
    `${isNegated ? '!' : ''}${stringOf(left)}.${name}(${stringOf(right())})`;
const matching =
  (isNegated: boolean): Write =>
  (left, right) =>
    `${isNegated ? '!' : ''}${stringOf(left)}.matches(${patternOf(right())})`;
const containing =
  (isNegated: boolean): Write =>
  (left, right) =>
    `${isNegated ? '!' : ''}(${right().text} in ${listOf(left)})`;
const measured =
  (sign: string): Write =>
  (left, right) =>
    `size(${listOf(left)}) ${sign} ${numberOf(right().fixed) ?? right().text}`;
const isTrue = (side: Side): string =>
  valueOf(side, 'false', `(${side.text} && true)`) + (side.isStrict ? '' : ' == true');

/** Nothing is less or more than what is not there; null counts as 0. */
const ordered =
  (sign: string): Write =>
  (left, right) => {
    const sides = [left, right()];
    const there = sides.flatMap(({ isThere }) => (isThere ? [isThere] : []));
    const [a, b] = sides.map((side) =>
      side.isThere === undefined ? side.text : `(${side.text} == null ? 0 : ${numberText(side)})`,
    );
    const text = `${a} ${sign} ${b}`;
    return there.length > 0 ? `(${there.join(' && ')} && ${text})` : text;
  };

function numberText({ text, isStrict }: Side): string {
  return isStrict ? `${text} * 1` : text;
}

/** `/pattern/flags`, or a pattern. */
function patternOf(side: Side): string {
  if (typeof side.fixed !== 'string') return stringOf(side);
  const [, pattern = side.fixed, flags = ''] = /^\/(.*?)\/([gimusy]*)$/.exec(side.fixed) ?? [];
  if (/[msy]/.test(flags)) throw notTranslatable(`patterns have no flags ${flags} here`);
  return JSON.stringify(flags.includes('i') ? `(?i)${pattern}` : pattern);
}

const equality = (of: (side: Side) => string) => ({
  equals: infix('==', of),
  notEquals: infix('!=', of),
});
const existence = {
  exists: (left: Side) => `(${existenceOf(left)})`,
  notExists: (left: Side) => `!(${existenceOf(left)})`,
};
const absence = { empty: existence.notExists, notEmpty: existence.exists };

const anyType: Readonly<Record<string, Write>> = withoutPrototype(existence);

const byType: Readonly<Record<string, Readonly<Record<string, Write>>>> = withoutPrototype({
  string: withoutPrototype({
    ...equality(stringOf),
    contains: call('contains'),
    notContains: call('contains', true),
    startsWith: call('startsWith'),
    notStartsWith: call('startsWith', true),
    endsWith: call('endsWith'),
    notEndsWith: call('endsWith', true),
    regex: matching(false),
    notRegex: matching(true),
    empty: (left: Side) => `${stringOf(left)} == ""`,
    notEmpty: (left: Side) => `${stringOf(left)} != ""`,
  }),
  number: withoutPrototype({
    ...equality(scalarOf('number')),
    ...absence,
    gt: ordered('>'),
    lt: ordered('<'),
    gte: ordered('>='),
    lte: ordered('<='),
  }),
  boolean: withoutPrototype({
    ...equality(scalarOf('boolean')),
    ...absence,
    true: (left: Side) => `(${isTrue(left)})`,
    false: (left: Side) => `!(${isTrue(left)})`,
  }),
  array: withoutPrototype({
    contains: containing(false),
    notContains: containing(true),
    lengthEquals: measured('=='),
    lengthNotEquals: measured('!='),
    lengthGt: measured('>'),
    lengthLt: measured('<'),
    lengthGte: measured('>='),
    lengthLte: measured('<='),
    empty: (left: Side) => `size(${listOf(left)}) == 0`,
    notEmpty: (left: Side) => `size(${listOf(left)}) > 0`,
  }),
  object: withoutPrototype({
    empty: (left: Side) => `!(${existenceOf(left)} && size(${left.text}) > 0)`,
    notEmpty: (left: Side) => `(${existenceOf(left)} && size(${left.text}) > 0)`,
  }),
});

const oldNames: Readonly<Record<string, string>> = withoutPrototype({
  equal: 'equals',
  notEqual: 'notEquals',
  larger: 'gt',
  largerEqual: 'gte',
  smaller: 'lt',
  smallerEqual: 'lte',
  isEmpty: 'empty',
  isNotEmpty: 'notEmpty',
});
