import type { TSchema } from 'typebox';
import { Pointer } from 'typebox/value';

/** What is wrong at one place of a value; `place` is a JSON pointer (RFC 6901). */
export interface SchemaFlaw {
  readonly place: string;
  readonly message: string;
  /** The property that is not there, where that is what is wrong. */
  readonly missing?: string;
}

interface SchemaError {
  readonly keyword: string;
  readonly instancePath: string;
  readonly schemaPath: string;
  readonly message: string;
  readonly params: object;
}

/**
 * One flaw for each place: what may stand there, where that is a choice of values. Of a union it is
 * the branch of the value's own JSON type that says what is wrong, else all types that may stand
 * there are named. A text that a pattern refuses must be what the `description` beside the pattern
 * says, where the schema is given.
 */
export function findFlaws(errors: readonly SchemaError[], schema: TSchema = {}): SchemaFlaw[] {
  const places = new Set(errors.map(({ instancePath }) => instancePath));
  return [...places].flatMap((place) => {
    const here = errors.filter(({ instancePath }) => instancePath === place);
    const isDeeper = errors.some(({ instancePath }) => instancePath.startsWith(`${place}/`));
    return isDeeper && here.every(isOtherBranch) ? [] : [flawOf(place, here, schema)];
  });
}

function flawOf(place: string, here: readonly SchemaError[], schema: TSchema): SchemaFlaw {
  const shape = here.find(({ keyword }) => shapeKeywords.has(keyword));
  if (shape) return { place, message: shape.message, ...missingOf(shape) };
  const allowed = here.flatMap(allowedValues);
  if (allowed.length > 0) {
    const choice = allowed.map((value) => JSON.stringify(value)).join(', ');
    return { place, message: `must be one of ${choice}` };
  }
  const own = here.find((error) => !isOtherBranch(error));
  if (own) return { place, message: messageOf(own, schema) };
  const types = new Set(here.flatMap(typesOf));
  // An absent value is the same as null wherever null may stand.
  if (types.size > 1) types.delete('null');
  const message = types.size > 0 ? `must be ${[...types].join(' or ')}` : here[0]?.message;
  return { place, message: message ?? 'is not valid' };
}

/** What only a value can fail that has the branch's own JSON type: object or array. */
const shapeKeywords = new Set([
  'required',
  'additionalProperties',
  'minProperties',
  'maxProperties',
  'minItems',
  'maxItems',
  'uniqueItems',
]);

/** Whether a branch of a union fails already because the value is meant for another one. */
function isOtherBranch({ keyword, schemaPath }: SchemaError): boolean {
  if (keyword === 'anyOf') return true;
  return /\/anyOf\/\d+(\/|$)/.test(schemaPath) && ['type', 'const', 'enum'].includes(keyword);
}

function typesOf({ keyword, params }: SchemaError): readonly string[] {
  const { type = [] } = params as { type?: string | readonly string[] };
  return keyword === 'type' ? [type].flat() : [];
}

function missingOf({ keyword, params }: SchemaError): { readonly missing?: string } {
  const { requiredProperties = [] } = params as { requiredProperties?: readonly string[] };
  const [missing] = requiredProperties;
  return keyword === 'required' && missing !== undefined ? { missing } : {};
}

function messageOf(error: SchemaError, schema: TSchema): string {
  if (error.keyword === 'format') return formatMessage(error);
  // The schema of a property that an object must not have is false.
  if (error.keyword === 'boolean') return 'is not known here';
  if (error.keyword !== 'pattern') return error.message;
  const { description } = (Pointer.Get(schema, error.schemaPath.slice(1)) ?? {}) as {
    description?: string;
  };
  return description === undefined ? error.message : `must be ${description}`;
}

function formatMessage({ message, params }: SchemaError): string {
  const { format } = params as { format?: string };
  return format === 'date-time' ? 'must be a time such as 2026-01-31T08:00:00Z' : message;
}

function allowedValues({ keyword, params }: SchemaError): readonly unknown[] {
  const { allowedValue, allowedValues: several = [] } = params as {
    allowedValue?: unknown;
    allowedValues?: readonly unknown[];
  };
  return keyword === 'const' ? [allowedValue] : several;
}
