import type { FastifySchemaCompiler } from 'fastify';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { Fault } from '../errors.ts';
import { convertTexts } from '../text-values.ts';

interface Flaw {
  readonly path: string;
  readonly message: string;
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
    const flaws = validator.Errors(filled).map((error) => toFlaw(part, error));
    return { error: validationFault(part, flaws) };
  };
};

function toFlaw(part: string, error: { instancePath: string; message: string }): Flaw {
  return { path: part + error.instancePath.replaceAll('/', '.'), message: error.message };
}

function validationFault(part: string, flaws: readonly Flaw[]): Fault {
  const [first] = flaws;
  const message = first ? `${first.path} ${first.message}` : `${part} is not valid`;
  return new Fault('invalid', message, {
    reason: 'validation_error',
    detail: { errors: flaws, ...(first ? { param: first.path.replace(/^[a-z]+\./, '') } : {}) },
  });
}
