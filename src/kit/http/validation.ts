import type { FastifySchemaCompiler } from 'fastify';
import { Type, type TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { Value } from 'typebox/value';
import type { Route } from '../contract.ts';
import { Fault } from '../errors.ts';
import { findFlaws, type SchemaFlaw } from '../schema-flaws.ts';
import { convertTexts } from '../text-values.ts';

type Part = 'params' | 'query' | 'body';

type Validated = { readonly value: unknown } | { readonly error: Fault };

/**
 * Checks a part of a request against its schema. Parameters and queries arrive as text and are
 * converted; bodies are taken as they are, less the fields that the schema does not know, unless it
 * says `additionalProperties: true`. Defaults are filled in. Compiled when the first request needs it.
 */
export function validatorOf(schema: TSchema, part: Part): (value: unknown) => Validated {
  let validate: ((value: unknown) => Validated) | undefined;
  return (value) => {
    validate ??= makeValidator(schema, part);
    return validate(value);
  };
}

/** The same as Fastify asks for it. */
export const compileValidator: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) =>
  validatorOf(schema, httpPart === 'querystring' ? 'query' : ((httpPart ?? 'body') as Part));

const AnyObject = Type.Object({}, { additionalProperties: true });

/** What the edge checks of a body: where the handler does it, only that it is an object. */
export function checkedBody({ bodyCheck, schema: { body } }: Route): TSchema | undefined {
  // Cheap to check, and keeps every field.
  return body && bodyCheck === 'handler' ? AnyObject : body;
}

function makeValidator(schema: TSchema, part: Part) {
  const validator = Compile(schema);
  const isText = part !== 'body';
  const keep = isText ? (parts: unknown) => parts : keeperOf(schema);
  // Fastify says null where there is no body.
  const nothing = !isText && isBodyOptional(schema) ? {} : undefined;
  const hasDefaults = JSON.stringify(schema).includes('"default":');
  return (value: unknown): Validated => {
    const converted = isText ? convertTexts(schema, value) : (value ?? nothing ?? value);
    const filled = hasDefaults ? validator.Default(converted) : converted;
    if (validator.Check(filled)) return { value: keep(filled) };
    return { error: validationFault(part, findFlaws(validator.Errors(filled), schema)) };
  };
}

/** Whether an object without any of its known fields would do, so that no body at all does too. */
export function isBodyOptional(schema: TSchema): boolean {
  return 'properties' in schema && Value.Check(schema, {});
}

/** Leaves out what a handler must never come to see: fields that nothing has checked. */
function keeperOf(schema: TSchema): (body: unknown) => unknown {
  const { properties, additionalProperties } = schema as {
    properties?: Readonly<Record<string, TSchema>>;
    additionalProperties?: unknown;
  };
  if (!properties || additionalProperties) return (body) => body;
  const names = Object.keys(properties);
  return (body) => {
    const fields = body as Readonly<Record<string, unknown>>;
    const kept: Record<string, unknown> = {};
    for (const name of names) if (fields[name] !== undefined) kept[name] = fields[name];
    return kept;
  };
}

function validationFault(part: string, found: readonly SchemaFlaw[]): Fault {
  const flaws = found.map(({ place, message }) => ({
    path: part + place.replaceAll('/', '.'),
    message,
  }));
  const [first] = flaws;
  const missing = found[0]?.missing;
  const message = first ? `${first.path} ${first.message}` : `${part} is not valid`;
  return new Fault('invalid', message, {
    reason: 'validation_error',
    detail: { errors: flaws, ...(first ? { param: fieldOf(first.path, missing) } : {}) },
  });
}

/** The field's name within its part; one that is missing is named itself. */
function fieldOf(path: string, missing: string | undefined): string {
  const whole = missing === undefined ? path : `${path}.${missing}`;
  return whole.replace(/^[a-z]+\./, '');
}
