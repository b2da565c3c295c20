import { Fault } from '../kit/errors.ts';

/**
 * The refusal of a field that would change the answer and that no model here knows; `what` says it
 * more closely than the field's name where only some values are refused.
 */
export function unsupported(param: string, what = param): Fault {
  return new Fault('invalid', `${what} is not supported by local models`, {
    reason: 'unsupported_parameter',
    detail: { param },
  });
}

/** The refusal of a value that its schema could not rule out. */
export function invalidField(param: string, message: string): Fault {
  return new Fault('invalid', `${param} ${message}`, {
    reason: 'validation_error',
    detail: { param },
  });
}

/**
 * Refuses another number of dimensions than the model has: a vector that was cut means something only in
 * models made for it, and none says that it is.
 */
export function requireDimensions(
  { dimensions }: { readonly dimensions?: number | null | undefined },
  actual: number | undefined,
): void {
  if (!dimensions || actual === undefined || dimensions === actual) return;
  throw invalidField('dimensions', `must be ${actual}, the number that the model has`);
}

/** Whether a field asks for anything: `false`, 0 and what is empty do not. */
export function isAsked(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
  return Boolean(value);
}

/** Refuses by name the first of the fields that asks for something, lest it be ignored in silence. */
export function refuseAsked(body: object, fields: readonly string[]): void {
  // Bodies are parsed JSON, so every field can be read by its name.
  const values = body as Readonly<Record<string, unknown>>;
  const named = fields.find((field) => isAsked(values[field]));
  if (named) throw unsupported(named);
}

/**
 * Refuses by name the first field that has another value than the one beside it, which asks nothing;
 * `null` is the same as absent. `prefix` stands before the name in the refusal.
 */
export function refuseChanged(
  body: object,
  neutralValues: Readonly<Record<string, unknown>>,
  prefix = '',
): void {
  // Bodies are parsed JSON, so every field can be read by its name.
  const values = body as Readonly<Record<string, unknown>>;
  for (const [name, neutral] of Object.entries(neutralValues)) {
    if ((values[name] ?? neutral) === neutral) continue;
    const param = `${prefix}${name}`;
    throw unsupported(param, `${param} other than ${String(neutral)}`);
  }
}
