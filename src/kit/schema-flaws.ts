import type { TSchema } from 'typebox';
import { Pointer } from 'typebox/value';

/** What is wrong at one place of a value; `place` is a JSON pointer (RFC 6901). */
export interface SchemaFlaw {
  readonly place: string;
  readonly message: string;
}

interface SchemaError {
  readonly keyword: string;
  readonly instancePath: string;
  readonly schemaPath: string;
  readonly message: string;
  readonly params: object;
}

/**
 * One flaw for each place: what may stand there, where that is a choice of values. A text that a
 * pattern refuses must be what the `description` beside the pattern says, where the schema is given.
 */
export function findFlaws(errors: readonly SchemaError[], schema: TSchema = {}): SchemaFlaw[] {
  const places = new Set(errors.map(({ instancePath }) => instancePath));
  return [...places].map((place) => {
    const here = errors.filter(({ instancePath }) => instancePath === place);
    const allowed = here.flatMap(allowedValues);
    const choice = `must be one of ${allowed.map((value) => JSON.stringify(value)).join(', ')}`;
    return { place, message: allowed.length > 0 ? choice : messageOf(here[0], schema) };
  });
}

function messageOf(error: SchemaError | undefined, schema: TSchema): string {
  if (error?.keyword !== 'pattern') return error?.message ?? 'is not valid';
  const { description } = (Pointer.Get(schema, error.schemaPath.slice(1)) ?? {}) as {
    description?: string;
  };
  return description === undefined ? error.message : `must be ${description}`;
}

function allowedValues({ keyword, params }: SchemaError): readonly unknown[] {
  const { allowedValue, allowedValues: several = [] } = params as {
    allowedValue?: unknown;
    allowedValues?: readonly unknown[];
  };
  return keyword === 'const' ? [allowedValue] : several;
}
