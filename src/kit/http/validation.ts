import type { FastifySchemaCompiler } from 'fastify';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { Fault } from '../errors.ts';
import { convertTexts } from '../text-values.ts';

/** What is wrong at one place of a request. */
interface Flaw {
  readonly path: string;
  readonly message: string;
}

interface SchemaError {
  readonly keyword: string;
  readonly instancePath: string;
  readonly message: string;
  readonly params: object;
}

/**
 * Compiles a TypeBox schema into Fastify's validator. Parameters and queries arrive as text and are
 * converted; bodies are taken as they are. Defaults are filled in.
 */
export const compileValidator: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  const validator = Compile(schema);
  const part = httpPart === 'querystring' ? 'query' : (httpPart ?? 'body');
  const isText = part !== 'body';
  const hasDefaults = JSON.stringify(schema).includes('"default":');
  return (value: unknown) => {
    const converted = isText ? convertTexts(schema, value) : value;
    const filled = hasDefaults ? validator.Default(converted) : converted;
    if (validator.Check(filled)) return { value: filled };
    return { error: validationFault(part, validator.Errors(filled)) };
  };
};

function validationFault(part: string, errors: readonly SchemaError[]): Fault {
  const flaws = findFlaws(part, errors);
  const [first] = flaws;
  const message = first ? `${first.path} ${first.message}` : `${part} is not valid`;
  return new Fault('invalid', message, {
    reason: 'validation_error',
    detail: { errors: flaws, ...(first ? { param: first.path.replace(/^[a-z]+\./, '') } : {}) },
  });
}

/** One flaw for each place: what it may be instead, where that is a choice of values. */
function findFlaws(part: string, errors: readonly SchemaError[]): Flaw[] {
  const places = new Set(errors.map(({ instancePath }) => instancePath));
  return [...places].map((place) => {
    const here = errors.filter(({ instancePath }) => instancePath === place);
    const allowed = here.flatMap(allowedValues);
    const choice = `must be one of ${allowed.map((value) => JSON.stringify(value)).join(', ')}`;
    const message = allowed.length > 0 ? choice : (here[0]?.message ?? 'is not valid');
    return { path: part + place.replaceAll('/', '.'), message };
  });
}

function allowedValues({ keyword, params }: SchemaError): readonly unknown[] {
  const { allowedValue, allowedValues: several = [] } = params as {
    allowedValue?: unknown;
    allowedValues?: readonly unknown[];
  };
  return keyword === 'const' ? [allowedValue] : several;
}
