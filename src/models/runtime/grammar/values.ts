import type { TSchema } from 'typebox';
import { Value } from 'typebox/value';
import type { JsonSchema } from '../../inference/request.ts';

/** Keywords that tell of a value whether it fits without looking into it. */
const plain: ReadonlySet<string> = new Set([
  'type',
  'const',
  'required',
  'minItems',
  'maxItems',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
]);

/** The values that the schema lists; undefined where it lists none. */
export function listedValues(schema: JsonSchema): readonly unknown[] | undefined {
  if ('const' in schema) return [schema['const']];
  const { enum: values } = schema;
  return Array.isArray(values) && values.length > 0 ? values : undefined;
}

/** Those of its listed values that fit what else the schema says of them plainly. */
export function fittingValues(schema: JsonSchema, values: readonly unknown[]): readonly unknown[] {
  const rest: TSchema = Object.fromEntries(
    Object.entries(schema).filter(([keyword]) => plain.has(keyword)),
  );
  const fitting = values.filter((value) => Value.Check(rest, value));
  const { enum: others } = schema;
  if (!('const' in schema) || !Array.isArray(others)) return fitting;
  return fitting.filter((value) => others.some((other) => Value.Equal(other, value)));
}

/** What stands beside listed values and looks into them, which nothing here does. */
export function firstDeepKeyword(schema: JsonSchema): string | undefined {
  return ['properties', 'additionalProperties', 'items', 'prefixItems', 'format', 'pattern'].find(
    (keyword) => keyword in schema,
  );
}
