import { Errors } from 'typebox/schema';
import { findFlaws } from '../../../kit/schema-flaws.ts';

/** Keywords that bound a value by themselves. */
const kept = new Set([
  'type',
  'enum',
  'const',
  'required',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
]);
/** Schemas that one schema may have once its references are put in their places. */
const schemasMax = 2_000;
const depthMax = 64;

/**
 * Where and why a value does not fit a JSON Schema, in words; undefined where it does. What a schema can
 * make costly (`pattern`, `format`, references to itself) and what a part that is left out would turn
 * round (`not`, `if`) does not count, and of `oneOf` any may fit.
 */
export function flawOf(value: unknown, schema: object): string | undefined {
  const [isFitting, errors] = Errors(new Bounded(schema).read(schema), value);
  if (isFitting) return undefined;
  const [flaw] = findFlaws(errors);
  return flaw ? `${flaw.place || 'it'} ${flaw.message}` : 'it is not valid';
}

type Read = Record<string, unknown>;
type ReadPart = (part: unknown) => Read | boolean;

/** A schema without references, whose check takes time in proportion to it and to the value. */
class Bounded {
  readonly #root: object;
  #count = 0;

  constructor(root: object) {
    this.#root = root;
  }

  read(schema: unknown, depth = 0): Read | boolean {
    this.#count += 1;
    if (typeof schema === 'boolean') return schema;
    if (!isObject(schema) || this.#count > schemasMax || depth > depthMax) return {};
    const next = (part: unknown) => this.read(part, depth + 1);
    const { properties } = schema;
    const all = this.#all(schema, next);
    return {
      ...Object.fromEntries(Object.entries(schema).filter(([name]) => kept.has(name))),
      ...(isObject(properties) ? { properties: mapValues(properties, next) } : {}),
      ...readRest(schema, next),
      ...(all.length > 0 ? { allOf: all } : {}),
    };
  }

  /** Schemas all of which bound the same value. */
  #all(schema: Read, next: ReadPart): (Read | boolean)[] {
    const all = listOf(schema['allOf']).map(next);
    if (typeof schema['$ref'] === 'string') all.push(next(this.#find(schema['$ref'])));
    for (const choice of [schema['anyOf'], schema['oneOf']]) {
      if (Array.isArray(choice)) all.push({ anyOf: choice.map(next) });
    }
    return all;
  }

  /** What a reference within the schema names; nothing where it names none. */
  #find(reference: string): unknown {
    if (!reference.startsWith('#')) return {};
    let at: unknown = this.#root;
    for (const part of reference.slice(1).split('/').slice(1)) {
      const name = decodeName(part);
      at = isObject(at) && Object.hasOwn(at, name) ? at[name] : {};
    }
    return at;
  }
}

/** Of lists, and of names that are not among the properties. */
function readRest(schema: Read, next: ReadPart): Read {
  const { items, prefixItems, additionalProperties, patternProperties } = schema;
  const first = listOf(prefixItems).map(next);
  // A name that a pattern allows is no further one.
  const isOpen = additionalProperties === undefined || patternProperties !== undefined;
  return {
    ...(items === undefined ? {} : { items: next(items) }),
    ...(first.length > 0 ? { prefixItems: first } : {}),
    ...(isOpen ? {} : { additionalProperties: next(additionalProperties) }),
  };
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A part of a JSON pointer within an address (RFC 6901). */
function decodeName(part: string): string {
  try {
    return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return part;
  }
}

function mapValues(parts: Read, map: (part: unknown) => unknown): Read {
  return Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, map(part)]));
}

function isObject(value: unknown): value is Read {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
