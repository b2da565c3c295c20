import { fieldsOf, isFields, listOf, textOf, type Fields } from '../fields.ts';
import { compare } from './comparisons.ts';
import type { Sight } from './expressions.ts';

/** How conditions are read. */
export interface ConditionReading {
  /** `and` where the conditions say nothing else. */
  readonly combinator?: string;
  /** A value of another type is converted, and no failure. */
  readonly isLoose?: boolean;
}

/** The conditions of an If, Filter or Switch as CEL; Fault `invalid` (`not_translatable`). */
export function conditionOf(
  conditions: unknown,
  sight: Sight,
  { combinator = 'and', isLoose = false }: ConditionReading = {},
): string {
  const fields = fieldsOf(conditions);
  const isStrict = !isLoose && fieldsOf(fields['options'])['typeValidation'] !== 'loose';
  const parts = Array.isArray(fields['conditions'])
    ? listOf(fields['conditions']).map((one) => newCondition(fieldsOf(one), sight, isStrict))
    : oldConditions(fields, sight);
  if (parts.length === 0) return 'true';
  const isAny = /^(or|any)$/i.test(textOf(fields['combinator']) || combinator);
  return parts.length === 1 ? (parts[0] ?? 'true') : parts.join(isAny ? ' || ' : ' && ');
}

/** How conditions compare otherwise than CEL does, in words; undefined where they do not. */
export function differenceOf(conditions: unknown, isLoose: boolean): string | undefined {
  const fields = fieldsOf(conditions);
  const { caseSensitive, typeValidation } = fieldsOf(fields['options']);
  const isOld = !Array.isArray(fields['conditions']) && Object.keys(fields).length > 0;
  const differences = [
    ...(caseSensitive === false ? ['upper and lower case were the same to it'] : []),
    ...(isLoose || isOld || typeValidation === 'loose'
      ? ['it converted values of other types']
      : []),
  ];
  return differences.length > 0 ? `${differences.join(', and ')}; here they differ` : undefined;
}

function newCondition(condition: Fields, sight: Sight, isStrict: boolean): string {
  const operator = fieldsOf(condition['operator']);
  const type = textOf(operator['type']) || 'string';
  const operation = textOf(operator['operation']);
  const { leftValue: left, rightValue: right } = condition;
  return compare({ left, right, operation, type, isStrict }, sight);
}

/** Of before version 2: lists of comparisons by type. */
function oldConditions(byType: Fields, sight: Sight): string[] {
  return Object.entries(byType).flatMap(([type, list]) =>
    listOf(list)
      .filter(isFields)
      .map(({ value1: left, value2: right, operation }) =>
        compare({ left, right, operation: textOf(operation) || 'equal', type }, sight),
      ),
  );
}
