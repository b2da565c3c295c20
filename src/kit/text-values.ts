import type { TSchema } from 'typebox';

interface Shape {
  readonly type?: unknown;
  readonly properties?: Readonly<Record<string, TSchema>>;
}

const decimal = /^-?(0|[1-9]\d*)(\.\d+)?$/;

/**
 * A value that came as text, as what its schema asks for: `"20"` as 20, `"true"` as true. Text that
 * does not spell such a value stays text, so that the check which follows refuses it; nothing is
 * rounded or guessed.
 */
export function convertText(schema: TSchema, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const { type } = schema as Shape;
  if ((type === 'integer' || type === 'number') && decimal.test(value)) return Number(value);
  if (type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true';
  return value;
}

/** The same for each property of an object: a query, or the parameters of a path. */
export function convertTexts(schema: TSchema, values: unknown): unknown {
  const { properties = {} } = schema as Shape;
  const converted = { ...(values as Readonly<Record<string, unknown>>) };
  for (const [name, property] of Object.entries(properties)) {
    if (name in converted) converted[name] = convertText(property, converted[name]);
  }
  return converted;
}
