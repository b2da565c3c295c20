import { Fault } from '../../../kit/errors.ts';
import { fieldsOf, isFields, listOf, numberOf, textOf, type Fields } from '../fields.ts';
import { pathText } from '../paths.ts';
import { isExpression, placeOf, untranslatable, type Sight } from './expressions.ts';

/** The conditions of an If, Filter or Switch as CEL; Fault `invalid` (`not_translatable`). */
export function conditionOf(conditions: unknown, sight: Sight, combinator = 'and'): string {
  const fields = fieldsOf(conditions);
  const parts = Array.isArray(fields['conditions'])
    ? listOf(fields['conditions']).map((one) => newCondition(fieldsOf(one), sight))
    : oldConditions(fields, sight);
  if (parts.length === 0) return 'true';
  const isAny = /^(or|any)$/i.test(textOf(fields['combinator']) || combinator);
  return parts.length === 1 ? (parts[0] ?? 'true') : parts.join(isAny ? ' || ' : ' && ');
}

/** How conditions compare otherwise than CEL does, in words; undefined where they do not. */
export function differenceOf(conditions: unknown, isLoose: boolean): string | undefined {
  const { caseSensitive, typeValidation } = fieldsOf(fieldsOf(conditions)['options']);
  const differences = [
    ...(caseSensitive === false ? ['upper and lower case were the same to it'] : []),
    ...(isLoose || typeValidation === 'loose' ? ['it converted values of other types'] : []),
  ];
  return differences.length > 0 ? `${differences.join(', and ')}; here they differ` : undefined;
}

/** One comparison. */
export interface Comparison {
  readonly left: unknown;
  readonly right: unknown;
  readonly operation: string;
  /** `string`, `number`, `boolean`, … */
  readonly type: string;
}

/** One comparison as CEL. */
export function compare(comparison: Comparison, sight: Sight): string {
  const { operation, type } = comparison;
  const write = operations[`${operation}:${type}`] ?? operations[operation];
  if (!write) {
    const message = `the comparison ${operation.slice(0, 64)} of a ${type.slice(0, 32)} has no counterpart`;
    throw new Fault('invalid', message, { reason: 'not_translatable' });
  }
  const { left, right } = comparison;
  return write(operand(left, type, sight), () => operand(right, type, sight));
}

function newCondition(condition: Fields, sight: Sight): string {
  const operator = fieldsOf(condition['operator']);
  const type = textOf(operator['type']) || 'string';
  const operation = textOf(operator['operation']);
  return compare(
    { left: condition['leftValue'], right: condition['rightValue'], operation, type },
    sight,
  );
}

/** Of before version 2: lists of comparisons by type. */
function oldConditions(byType: Fields, sight: Sight): string[] {
  return Object.entries(byType).flatMap(([type, list]) =>
    listOf(list)
      .filter(isFields)
      .map((one) => {
        const operation = textOf(one['operation']) || 'equal';
        return compare({ left: one['value1'], right: one['value2'], operation, type }, sight);
      }),
  );
}

function operand(value: unknown, type: string, sight: Sight): string {
  const place = placeOf(value, sight);
  if (place) return pathText(place);
  if (isExpression(value)) throw untranslatable(String(value));
  const fixed = typeof value === 'string' && value.startsWith('=') ? value.slice(1) : value;
  const number = type === 'number' ? numberOf(fixed) : undefined;
  if (number !== undefined) return JSON.stringify(number);
  if (type === 'boolean' && (fixed === 'true' || fixed === 'false')) return fixed;
  return JSON.stringify(fixed ?? '');
}

type Write = (left: string, right: () => string) => string;

const infix =
  (sign: string): Write =>
  (left, right) =>
    `${left} ${sign} ${right()}`;
const call =
  (name: string, isNegated = false): Write =>
  (left, right) =>
    `${isNegated ? '!' : ''}${left}.${name}(${right()})`;
const measured =
  (sign: string): Write =>
  (left, right) =>
    `size(${left}) ${sign} ${Number(right().replaceAll('"', ''))}`;

/** Only a path can be asked whether it is there. */
const exists: Write = (left) => {
  const isPath = /^[A-Za-z_]\w*(\.[A-Za-z_]\w*)+$/.test(left);
  return isPath ? `has(${left}) && ${left} != null` : `${left} != null`;
};
const isEmpty: Write = (left, right) =>
  `(!(${exists(left, right)}) || ${left} == "" || size(${left}) == 0)`;

const operations: Readonly<Record<string, Write>> = Object.assign(Object.create(null), {
  equals: infix('=='),
  equal: infix('=='),
  notEquals: infix('!='),
  notEqual: infix('!='),
  contains: call('contains'),
  'contains:array': (left: string, right: () => string) => `${right()} in ${left}`,
  notContains: call('contains', true),
  startsWith: call('startsWith'),
  notStartsWith: call('startsWith', true),
  endsWith: call('endsWith'),
  notEndsWith: call('endsWith', true),
  regex: call('matches'),
  notRegex: call('matches', true),
  gt: infix('>'),
  larger: infix('>'),
  lt: infix('<'),
  smaller: infix('<'),
  gte: infix('>='),
  largerEqual: infix('>='),
  lte: infix('<='),
  smallerEqual: infix('<='),
  true: (left: string) => `${left} == true`,
  false: (left: string) => `${left} == false`,
  exists: (left: string, right: () => string) => `(${exists(left, right)})`,
  notExists: (left: string, right: () => string) => `!(${exists(left, right)})`,
  empty: isEmpty,
  isEmpty,
  notEmpty: (left: string, right: () => string) => `!${isEmpty(left, right)}`,
  isNotEmpty: (left: string, right: () => string) => `!${isEmpty(left, right)}`,
  lengthEquals: measured('=='),
  lengthGt: measured('>'),
  lengthLt: measured('<'),
  lengthGte: measured('>='),
  lengthLte: measured('<='),
});
