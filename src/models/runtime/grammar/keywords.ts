import { Fault } from '../../../kit/errors.ts';
import type { JsonSchema } from '../../inference/request.ts';

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
  'minItems',
  'maxItems',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'format',
];

const known: ReadonlySet<string> = new Set([...annotations, ...constraints]);

/** Fault `invalid` that names the keyword and where it stands. */
export function refuse(keyword: string, path: string): never {
  const message = `the JSON schema keyword ${keyword} at ${path} is not supported`;
  throw new Fault('invalid', message, {
    reason: 'unsupported_schema',
    detail: { param: 'format', keyword, path },
  });
}

/** Refuses keywords that no grammar can be made of. `uniqueItems: false` demands nothing. */
export function checkKeywords(schema: JsonSchema, path: string): void {
  for (const keyword of Object.keys(schema)) {
    if (known.has(keyword)) continue;
    if (keyword === 'uniqueItems' && schema[keyword] === false) continue;
    refuse(keyword, path);
  }
}

/** A count of a schema, or undefined. Beyond `countMax` llama.cpp refuses the grammar. */
export function readCount(schema: JsonSchema, keyword: string): number | undefined {
  const value = schema[keyword];
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : undefined;
}

export const countMax = 1000;

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
