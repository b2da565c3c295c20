import type { TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { isJsonObject } from '../../../kit/json-object.ts';
import type { JsonSchema } from '../../inference/request.ts';
import { guessType } from './keywords.ts';
import { fittingValues, listedValues } from './values.ts';

/** How a schema's `$ref` is followed; undefined where it leads nowhere. */
export type Follow = (schema: unknown) => unknown;

/** Whether no text that is written for one of these schemas fits another of them, for certain. */
export function areExclusive(choices: readonly unknown[], follow: Follow): boolean {
  const search = new Search(follow);
  return choices.every((one, i) =>
    choices.every((other, j) => i === j || search.neverFits(one, other, 0)),
  );
}

const depthMax = 8;
/** Pairs of schemas, and values, that are looked at. */
const stepsMax = 20_000;

/** What takes longer than its steps counts as not certain. */
class Search {
  readonly #follow: Follow;
  #steps = 0;

  constructor(follow: Follow) {
    this.#follow = follow;
  }

  /** Whether nothing written for the one schema fits the other. */
  neverFits(one: unknown, other: unknown, depth: number): boolean {
    const [a, b] = [this.#follow(one), this.#follow(other)];
    if (!isJsonObject(a) || !isJsonObject(b)) return false;
    const values = listedValues(a) ?? [];
    this.#steps += 1 + values.length;
    if (depth > depthMax || this.#steps > stepsMax) return false;
    if (values.length > 0) return fittingValues(a, values).every((value) => isRefused(value, b));
    const types = writtenTypes(a);
    if (areTypesApart(types, b)) return true;
    return types.length === 1 && types[0] === 'object' && this.#neverFits(a, b, depth + 1);
  }

  /** Objects with named properties are written with these only, and always with the required ones. */
  #neverFits(one: JsonSchema, other: JsonSchema, depth: number): boolean {
    const [written, wanted] = [namesOf(one), namesOf(other)];
    const isLimited = written.all.length > 0;
    if (isLimited && wanted.required.some((name) => !written.all.includes(name))) return true;
    const isClosed = other['additionalProperties'] === false;
    return written.required.some((name) => {
      if (isClosed && !wanted.all.includes(name)) return true;
      return this.neverFits(written.schemas[name], wanted.schemas[name], depth);
    });
  }
}

function namesOf({ properties, required }: JsonSchema) {
  const schemas = isJsonObject(properties) ? properties : {};
  const names = Array.isArray(required) ? required.map(String) : [];
  return { schemas, required: names, all: [...Object.keys(schemas), ...names] };
}

/** Whether the schema shuts a value out, without looking into it. */
function isRefused(value: unknown, schema: JsonSchema): boolean {
  const listed = listedValues(schema);
  if (listed) return !listed.some((one) => Value.Equal(one, value));
  const types = namedTypes(schema);
  return types.length > 0 && !types.some((type) => isOf(type, value));
}

/** Whether nothing of these types fits the schema; no types are any. */
function areTypesApart(types: readonly string[], schema: JsonSchema): boolean {
  if (types.length === 0) return false;
  const values = listedValues(schema);
  if (values) return values.every((value) => !types.some((type) => isOf(type, value)));
  const others = namedTypes(schema);
  return others.length > 0 && !types.some((type) => others.some((other) => overlap(type, other)));
}

function isOf(type: string, value: unknown): boolean {
  const schema: TSchema = { type };
  return Value.Check(schema, value);
}

/** A schema without a type is written as one type, though it fits others too. */
function writtenTypes(schema: JsonSchema): readonly string[] {
  const guessed = guessType(schema);
  return 'type' in schema || guessed === undefined ? namedTypes(schema) : [guessed];
}

function namedTypes({ type = [] }: JsonSchema): readonly string[] {
  return (Array.isArray(type) ? type : [type]).map(String);
}

function overlap(one: string, other: string): boolean {
  return one === other || (isNumeric(one) && isNumeric(other));
}

function isNumeric(type: string): boolean {
  return type === 'number' || type === 'integer';
}
