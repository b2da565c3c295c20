import { Fault } from '../../../kit/errors.ts';
import { isJsonObject } from '../../../kit/json-object.ts';
import type { JsonSchema } from '../../inference/request.ts';
import { formatNames } from './formats.ts';
import { bounds } from './integers.ts';

/** `strict` refuses by name what a grammar cannot hold; `lenient` allows more than the schema then. */
export type Strictness = 'strict' | 'lenient';

/** Keywords that say nothing about which values are valid. */
const annotations = [
  '$schema',
  '$id',
  '$comment',
  '$defs',
  'definitions',
  'title',
  'description',
  'default',
  'examples',
  'deprecated',
  'readOnly',
  'writeOnly',
  'contentEncoding',
  'contentMediaType',
];

/** Keywords that narrow the values, as far as a grammar can. */
export const constraints = [
  '$ref',
  'type',
  'enum',
  'const',
  'anyOf',
  'oneOf',
  'allOf',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'prefixItems',
  'additionalItems',
  'minItems',
  'maxItems',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'format',
  'pattern',
];

const known: ReadonlySet<string> = new Set([...annotations, ...constraints]);

/** Of keywords that are held in part. */
const limits: Readonly<Record<string, string>> = {
  format: `is held for ${formatNames.join(', ')} only`,
  multipleOf:
    'is held where at most 100 multiples lie within the bounds, or of what divides a power of ten into at most 50',
};

/** Fault `invalid` that names the keyword and where it stands. */
export function refuse(
  keyword: string,
  path: string,
  why = limits[keyword] ?? 'is not supported',
): never {
  const message = `the JSON schema keyword ${keyword} at ${path} ${why}`;
  throw new Fault('invalid', message, {
    reason: 'unsupported_schema',
    detail: { param: 'format', keyword, path },
  });
}

const isSchemas = (value: unknown) => Array.isArray(value) && value.length > 0;
const isSchema = (value: unknown) => typeof value === 'boolean' || isJsonObject(value);
const isNumber = (value: unknown) => typeof value === 'number';

/** What the value of a keyword has to be, where nobody else looks. */
const forms: Readonly<Record<string, (value: unknown) => boolean>> = {
  $ref: (value) => typeof value === 'string',
  enum: isSchemas,
  anyOf: isSchemas,
  oneOf: isSchemas,
  allOf: isSchemas,
  prefixItems: isSchemas,
  properties: isJsonObject,
  required: (value) => Array.isArray(value) && value.every((name) => typeof name === 'string'),
  additionalProperties: isSchema,
  items: (value) => isSchema(value) || isSchemas(value),
  additionalItems: isSchema,
  minimum: isNumber,
  maximum: isNumber,
  exclusiveMinimum: isNumber,
  exclusiveMaximum: isNumber,
  multipleOf: isNumber,
  pattern: (value) => typeof value === 'string',
};

/**
 * Refuses keywords that no grammar can be made of, and those with a value that makes no sense.
 * `uniqueItems: false` demands nothing, nor does `propertyNames` of any text, which Zod's records have.
 */
export function checkKeywords(schema: JsonSchema, path: string): void {
  for (const [keyword, value] of Object.entries(schema)) {
    if (demandsNothing(keyword, value) || isOfWritten(keyword, schema)) continue;
    const isSound = forms[keyword]?.(value) ?? true;
    if (!known.has(keyword) || !isSound) refuse(keyword, path);
  }
  if ('prefixItems' in schema && Array.isArray(schema['items'])) refuse('items', path);
}

function demandsNothing(keyword: string, value: unknown): boolean {
  if (keyword === 'uniqueItems') return value === false;
  return keyword === 'propertyNames' && (value === true || isAnyText(value));
}

/**
 * Whether `propertyNames` lists all names that the schema itself gives, as Zod's records of an enum have it:
 * an object with named properties is written with no others.
 */
function isOfWritten(keyword: string, schema: JsonSchema): boolean {
  const { propertyNames, properties, required } = schema;
  if (keyword !== 'propertyNames' || !isJsonObject(propertyNames)) return false;
  const { type = 'string', enum: allowed, ...rest } = propertyNames;
  const named = [
    ...Object.keys(isJsonObject(properties) ? properties : {}),
    ...(Array.isArray(required) ? required : []),
  ];
  const isPlain = type === 'string' && Object.keys(rest).length === 0 && Array.isArray(allowed);
  return isPlain && named.length > 0 && named.every((name) => allowed.includes(name));
}

function isAnyText(schema: unknown): boolean {
  if (!isJsonObject(schema)) return false;
  return Object.entries(schema).every(
    ([keyword, value]) => keyword === 'type' && value === 'string',
  );
}

/** A count of a schema, or undefined. */
export function readCount(schema: JsonSchema, keyword: string): number | undefined {
  const value = schema[keyword];
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : undefined;
}

/** Of a list, beyond which llama.cpp refuses the grammar. */
export const itemsMax = 1000;

/** The type that keywords of its own mean: what they say nothing of would fit them all. */
export function guessType(schema: JsonSchema): string | undefined {
  const found = Object.entries(ownKeywords).find(([, keywords]) =>
    keywords.some((keyword) => keyword in schema),
  );
  return found?.[0];
}

const ownKeywords: Readonly<Record<string, readonly string[]>> = {
  object: ['properties', 'required', 'additionalProperties'],
  array: ['items', 'prefixItems', 'minItems', 'maxItems'],
  string: ['minLength', 'maxLength', 'format', 'pattern'],
  number: [...bounds, 'multipleOf'],
};
