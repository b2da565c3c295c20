import { isJsonObject } from '../../../kit/json-object.ts';
import type { JsonSchema } from '../../inference/request.ts';
import {
  checkKeywords,
  constraints,
  guessType,
  itemsMax,
  readCount,
  refuse,
  type Strictness,
} from './keywords.ts';
import { areExclusive } from './exclusion.ts';
import {
  findFormat,
  formatRules,
  isFormless,
  isPatternOf,
  uriCharsWithin,
  uriLengthMin,
  type Format,
} from './formats.ts';
import { integerRule, numberRule } from './number-rules.ts';
import { objectRules } from './objects.ts';
import { charactersBetween } from './lengths.ts';
import { itemKeywords, repeated } from './lists.ts';
import { textsOf } from './patterns.ts';
import { checkTextSize, repetitionsMax, SizeBudget, TooLarge } from './size.ts';
import { literal, primitiveRules } from './primitives.ts';
import { firstDeepKeyword, fittingValues, listedValues } from './values.ts';

/** GBNF rules, and the one that stands for a value of the schema. */
export interface SchemaGrammar {
  readonly root: string;
  readonly rules: string;
}

/** A grammar as llama.cpp takes it; its first rule is `root`. */
export function toGrammarText(root: string, grammars: readonly SchemaGrammar[]): string {
  const own = [`root ::= ${root}`, ...grammars.map(({ rules }) => rules), primitiveRules];
  const hasFormats = own.some((rules) => rules.includes('format-'));
  return [...own, ...(hasFormats ? [formatRules] : [])].join('\n');
}

/** A grammar of any JSON object, which is what callers mean by JSON. */
export const anyObjectGrammar: SchemaGrammar = { root: 'object', rules: '' };

/**
 * Makes rules that only write what the schema accepts, their names after `prefix`. Properties come
 * in the schema's order; where `additionalProperties` is absent beside properties, no others do.
 * Strict: Fault `invalid` (`unsupported_schema`) names the first keyword that cannot be held, or the
 * limit that the schema exceeds. Lenient: a schema that is too large becomes any object.
 */
export function compileSchema(
  schema: unknown,
  prefix: string,
  strictness: Strictness,
): SchemaGrammar {
  try {
    checkTextSize(schema);
    const compiler = new Compiler(schema, prefix, strictness === 'strict');
    const root = compiler.compile(schema, '#');
    return { root, rules: compiler.rules.join('\n') };
  } catch (error) {
    if (error instanceof TooLarge && strictness === 'lenient') return anyObjectGrammar;
    throw error instanceof TooLarge ? error.toFault() : error;
  }
}

/** Compiles the parts of one schema; each answers a rule's name or an inline expression. */
class Compiler {
  readonly rules: string[] = [];
  readonly #document: unknown;
  readonly #prefix: string;
  readonly #isStrict: boolean;
  readonly #references = new Map<string, string>();
  readonly #size = new SizeBudget();
  /** How many of a rule's parses may be open at a time; a rule within itself counts once. */
  readonly #ways = new Map<string, number>();

  constructor(document: unknown, prefix: string, isStrict: boolean) {
    this.#document = document;
    this.#prefix = prefix;
    this.#isStrict = isStrict;
  }

  readonly compile = (schema: unknown, path: string): string => {
    this.#size.countParts(1);
    if (schema === true || schema === undefined) return 'value';
    if (!isJsonObject(schema))
      return this.widen(schema === false ? 'false' : 'schema', path, 'value');
    if (this.#isStrict) checkKeywords(schema, path);
    return this.#combined(schema, path) ?? this.#typed(schema, path);
  };

  readonly add = (body: string, ways = this.waysOf([body])): string => {
    const name = `${this.#prefix}${this.rules.length}`;
    this.#push(name, body, ways);
    return name;
  };

  readonly waysOf = (expressions: readonly string[]): number => {
    const most = (text: string) =>
      namesIn(text).reduce((found, name) => Math.max(found, this.#ways.get(name) ?? 1), 1);
    return expressions.reduce((sum, expression) => sum + most(expression), 0);
  };

  #push(name: string, body: string, ways: number): void {
    const rule = `${name} ::= ${body}`;
    this.#size.countRule(rule, ways);
    this.#ways.set(name, ways);
    this.rules.push(rule);
  }

  /** A rule of any of these. */
  #addChoice(choices: readonly string[]): string {
    return this.add(choices.join(' | '), this.waysOf(choices));
  }

  #combined(schema: JsonSchema, path: string): string | undefined {
    const { $ref, allOf } = schema;
    const crowded = combiners.find((keyword) => schema[keyword] && !isAlone(schema, keyword));
    if (crowded) this.widen(crowded, path, 'value');
    if (typeof $ref === 'string') return this.#reference($ref, path);
    const values = listedValues(schema);
    if (values) return this.#oneOfValues(values, schema, path);
    const chosen = this.#anyOrOne(schema, path);
    if (chosen !== undefined) return chosen;
    if (!Array.isArray(allOf)) return undefined;
    if (allOf.length === 1) return this.compile(allOf[0], `${path}/allOf/0`);
    return this.widen('allOf', path, 'value');
  }

  #anyOrOne({ anyOf, oneOf }: JsonSchema, path: string): string | undefined {
    const choices = anyOf ?? oneOf;
    if (!Array.isArray(choices) || choices.length === 0) return undefined;
    const isCertain = !this.#isStrict || choices === anyOf || areExclusive(choices, this.#follow);
    if (!isCertain) refuse('oneOf', path);
    return this.#choice(choices, `${path}/${anyOf ? 'anyOf' : 'oneOf'}`);
  }

  #oneOfValues(values: readonly unknown[], schema: JsonSchema, path: string): string {
    this.#size.countParts(values.length);
    const deep = firstDeepKeyword(schema);
    if (deep) this.widen(deep, path, 'value');
    const fitting = fittingValues(schema, values);
    if (fitting.length === 0) this.widen('const' in schema ? 'const' : 'enum', path, 'value');
    const allowed = fitting.length > 0 ? fitting : values;
    return this.#addChoice(allowed.map((value) => literal(JSON.stringify(value))));
  }

  #choice(choices: readonly unknown[], path: string): string {
    return this.#addChoice(choices.map((choice, i) => this.compile(choice, `${path}/${i}`)));
  }

  /** A rule for each target, made before its body, so that a schema may contain itself. */
  #reference($ref: string, path: string): string {
    const known = this.#references.get($ref);
    if (known) return known;
    const target = this.#target($ref);
    if (target === undefined) return this.widen('$ref', path, 'value');
    const name = `${this.#prefix}r${this.#references.size}`;
    this.#references.set($ref, name);
    const body = this.compile(target, $ref);
    this.#push(name, body, this.waysOf([body]));
    return name;
  }

  #target($ref: string): unknown {
    return $ref.startsWith('#') ? this.#find($ref.slice(1)) : undefined;
  }

  readonly #follow = (schema: unknown): unknown => {
    const $ref = isJsonObject(schema) ? schema['$ref'] : undefined;
    return typeof $ref === 'string' ? this.#target($ref) : schema;
  };

  #find(pointer: string): unknown {
    const steps = pointer.split('/').slice(1);
    return steps.reduce<unknown>((found, step) => {
      const key = decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
      if (Array.isArray(found)) return found[Number(key)];
      return isJsonObject(found) && Object.hasOwn(found, key) ? found[key] : undefined;
    }, this.#document);
  }

  #typed(schema: JsonSchema, path: string): string {
    const type = schema['type'] ?? guessType(schema);
    if (type === undefined) return 'value';
    if (!Array.isArray(type)) return this.#ofType(type, schema, path);
    if (type.length === 0) return this.widen('type', path, 'value');
    return this.#addChoice(type.map((one) => this.#ofType(one, schema, path)));
  }

  #ofType(type: unknown, schema: JsonSchema, path: string): string {
    if (type === 'object') return objectRules(this, schema, path);
    if (type === 'array') return this.#array(schema, path);
    if (type === 'string') return this.#string(schema, path);
    if (type === 'integer') return integerRule(this, schema, path);
    if (type === 'number') return numberRule(this, schema, path);
    if (type === 'boolean' || type === 'null') return type;
    return this.widen('type', path, 'value');
  }

  #array(schema: JsonSchema, path: string): string {
    const { first, rest } = itemKeywords(schema);
    const fixed: readonly unknown[] = Array.isArray(schema[first]) ? schema[first] : [];
    const heads = fixed.map((item, i) => this.compile(item, `${path}/${first}/${i}`));
    const isClosed = schema[rest] === false;
    const item = isClosed ? '' : this.compile(schema[rest], `${path}/${rest}`);
    const least = Math.max(this.#count(schema, 'minItems', path) ?? 0, heads.length);
    const most = isClosed ? heads.length : this.#count(schema, 'maxItems', path);
    if (most !== undefined && most < least) return this.widen('maxItems', path, 'array');
    if (most === 0) return '"[]"';
    const counts = {
      least: least - heads.length,
      most: most === undefined ? undefined : most - heads.length,
      isFirst: heads.length === 0,
    };
    const tail = isClosed ? '' : repeated(item, counts);
    const list = [...heads.map((head, i) => (i === 0 ? head : `ws "," ws ${head}`)), tail].join(
      ' ',
    );
    const body = least === 0 ? `( ${list} ws )?` : `${list} ws`;
    return this.add(`"[" ws ${body} "]"`);
  }

  #string(schema: JsonSchema, path: string): string {
    const { format, pattern } = schema;
    if (typeof pattern === 'string') return this.#matching(pattern, schema, path);
    if (format !== undefined && !isFormless(format)) return this.#formatted(schema, path);
    const least = this.#count(schema, 'minLength', path) ?? 0;
    const most = this.#count(schema, 'maxLength', path);
    if (most !== undefined && most < least) return this.widen('maxLength', path, 'string');
    if (least === 0 && most === undefined) return 'string';
    return this.add(String.raw`"\"" ${charactersBetween(least, most)} "\""`);
  }

  #formatted(schema: JsonSchema, path: string): string {
    const { minLength = 0, maxLength = Infinity } = schema;
    const known = findFormat(schema['format']);
    if (!known) return this.widen('format', path, 'string');
    if (!(Number(minLength) <= known.shortest)) return this.widen('minLength', path, known.rule);
    if (Number(maxLength) >= known.longest) return known.rule;
    const count = known.longest === Infinity ? uriCharsWithin(Number(maxLength)) : 0;
    if (!(count > 0)) return this.#shortened(path, known);
    this.#size.countRepetitions(count);
    return this.add(String.raw`"\"" format-start ( "/" format-char{0,${count}} )? "\""`);
  }

  #shortened(path: string, { rule, longest }: Format): string {
    const least = longest === Infinity ? uriLengthMin : longest;
    const why = `may be no less than ${least} beside this format`;
    if (this.#isStrict) refuse('maxLength', path, why);
    return rule;
  }

  /** Beside a pattern a format is an annotation (JSON Schema 2020-12, validation, section 7). */
  #matching(pattern: string, schema: JsonSchema, path: string): string {
    if (isPatternOf(schema['format'], pattern)) return this.#formatted(schema, path);
    const texts = textsOf(pattern);
    if (!texts) return this.widen('pattern', path, 'string');
    const { minLength = 0, maxLength = Infinity } = schema;
    if (!(Number(minLength) <= texts.shortest)) return this.widen('minLength', path, 'string');
    if (!(Number(maxLength) >= texts.longest)) return this.widen('maxLength', path, 'string');
    this.#size.countRepetitions(texts.places);
    return this.add(String.raw`"\"" ${texts.expression} "\""`, texts.ways);
  }

  #count(schema: JsonSchema, keyword: string, path: string): number | undefined {
    const count = readCount(schema, keyword);
    const most = keyword.endsWith('Items') ? itemsMax : repetitionsMax;
    if (count !== undefined && count <= most) {
      this.#size.countRepetitions(count);
      return count;
    }
    const isTooMany = count !== undefined && this.#isStrict;
    if (isTooMany) refuse(keyword, path, `may be at most ${most}`);
    if (schema[keyword] !== undefined) this.widen(keyword, path, '');
    return undefined;
  }

  /** For what no grammar can hold: refused when strict, else the wider expression. */
  readonly widen = (keyword: string, path: string, wider: string): string => {
    if (this.#isStrict) refuse(keyword, path);
    return wider;
  };
}

/** The rules that an expression names. */
function namesIn(expression: string): readonly string[] {
  return expression.replaceAll(/"(?:[^"\\]|\\.)*"/g, '').match(/[a-z][\w-]*/g) ?? [];
}

const combiners = ['$ref', 'anyOf', 'oneOf', 'allOf'];

/** Whether nothing beside a combining keyword narrows the values further. */
function isAlone(schema: JsonSchema, combining: string): boolean {
  return constraints.every((keyword) => keyword === combining || schema[keyword] === undefined);
}
