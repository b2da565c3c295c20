/** What is wrong at one place of a value; `place` is a JSON pointer (RFC 6901). */
export interface SchemaFlaw {
  readonly place: string;
  readonly message: string;
}

interface SchemaError {
  readonly keyword: string;
  readonly instancePath: string;
  readonly message: string;
  readonly params: object;
}

/** One flaw for each place: what may stand there, where that is a choice of values. */
export function findFlaws(errors: readonly SchemaError[]): SchemaFlaw[] {
  const places = new Set(errors.map(({ instancePath }) => instancePath));
  return [...places].map((place) => {
    const here = errors.filter(({ instancePath }) => instancePath === place);
    const allowed = here.flatMap(allowedValues);
    const choice = `must be one of ${allowed.map((value) => JSON.stringify(value)).join(', ')}`;
    return { place, message: allowed.length > 0 ? choice : (here[0]?.message ?? 'is not valid') };
  });
}

function allowedValues({ keyword, params }: SchemaError): readonly unknown[] {
  const { allowedValue, allowedValues: several = [] } = params as {
    allowedValue?: unknown;
    allowedValues?: readonly unknown[];
  };
  return keyword === 'const' ? [allowedValue] : several;
}
