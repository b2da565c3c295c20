import { isJsonObject } from '../../../kit/json-object.ts';
import type { JsonSchema } from '../../inference/request.ts';
import { literal } from './primitives.ts';

/** What objects need of the compiler that they are a part of. */
export interface Rules {
  readonly compile: (schema: unknown, path: string) => string;
  /** For what no grammar can hold: refused by its name, or the wider expression. */
  readonly widen: (keyword: string, path: string, wider: string) => string;
  /** Adds a rule; `ways` as of `waysOf` unless given. */
  readonly add: (body: string, ways?: number) => string;
  /** How many parses of these may be open at a time, one beside the other. */
  readonly waysOf: (expressions: readonly string[]) => number;
}

interface Member {
  readonly pair: string;
  readonly isRequired: boolean;
}

/** An expression of an object; its rules grow with the number of properties, not of subsets. */
export function objectRules(rules: Rules, schema: JsonSchema, path: string): string {
  const members = readMembers(rules, schema, path);
  // A named property could come a second time among the others, with another type: a schema that
  // names properties gets no others, which is within it.
  const others = members.length > 0 ? undefined : readOthers(rules, schema, path);
  if (members.length === 0 && others === 'pair') return 'object';
  const moreOthers = others === undefined ? '""' : `( ws "," ws ${others} )*`;
  const onlyOthers = others === undefined ? '""' : `( ${others} ${moreOthers} )?`;
  let more = moreOthers;
  let first = onlyOthers;
  for (const { pair, isRequired } of members.toReversed()) {
    const begun = `${pair} ${more}`;
    const continued = `ws "," ws ${pair} ${more}`;
    first = rules.add(isRequired ? begun : `${begun} | ${first}`);
    more = rules.add(isRequired ? continued : `${continued} | ${more}`);
  }
  // After the brace each member that need not come may be the next one.
  const ways = members.map(({ pair }) => rules.waysOf([pair]));
  return rules.add(
    `"{" ws ${first} ws "}"`,
    ways.reduce((a, b) => Math.max(a, b), ways.length),
  );
}

function readMembers(rules: Rules, schema: JsonSchema, path: string): Member[] {
  const properties = isJsonObject(schema['properties']) ? schema['properties'] : {};
  const required = new Set(Array.isArray(schema['required']) ? schema['required'] : []);
  const names = new Set([...Object.keys(properties), ...required].map(String));
  return [...names].map((name) => {
    const property = Object.hasOwn(properties, name)
      ? properties[name]
      : (schema['additionalProperties'] ?? true);
    const value =
      property === false
        ? rules.widen('required', path, 'value')
        : rules.compile(property, `${path}/properties/${name}`);
    const pair = rules.add(`${literal(JSON.stringify(name))} ws ":" ws ${value}`);
    return { pair, isRequired: required.has(name) };
  });
}

/** The pair of a property that is not named; undefined where there is none. */
function readOthers(rules: Rules, schema: JsonSchema, path: string): string | undefined {
  const others = schema['additionalProperties'];
  if (others === false) return undefined;
  if (others === undefined || others === true) return 'pair';
  return rules.add(`string ws ":" ws ${rules.compile(others, `${path}/additionalProperties`)}`);
}
