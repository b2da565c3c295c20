import { fieldsOf, isFields, listOf, numberOf, textOf, type Fields } from '../fields.ts';
import { placeholderText } from '../paths.ts';
import { notTranslatable } from '../translation.ts';
import { isExpression, isLoneExpression } from './expressions.ts';
import { parseJson } from './json-texts.ts';
import { dataIn, type Mapped, type N8nKind, type N8nReading } from './kind.ts';

/** Edit Fields. */
export const set: N8nKind = {
  map: (reading): Mapped => {
    const { mode, options } = reading.node.parameters;
    const isRaw = mode === 'raw';
    const raw = isRaw ? rawFields(reading) : undefined;
    if (isRaw && raw === undefined) {
      return { status: 'unsupported', note: 'its JSON has expressions: write a Transform' };
    }
    const assigned = isRaw ? { fields: raw, conversions: [], notes: [] } : assignedBy(reading);
    const { fields, conversions, notes } = assigned;
    const kept = keptOf(reading);
    const ignoresFailures =
      fieldsOf(options)['ignoreConversionErrors'] === true && conversions.length > 0;
    const differences = [
      ...notes,
      ...(ignoresFailures ? ['a value that cannot be converted is a failure'] : []),
      ...(kept !== undefined && setsInner(reading)
        ? ['a field within a field replaces the whole outer one']
        : []),
    ];
    const given = { kept, sets: kept === undefined ? '$$' : '$$.set', conversions };
    const before = placeholderText(reading.sight.own());
    const input = kept === undefined ? fields : { before, set: fields };
    return {
      node: { type: 'Transform', data: { input, expression: expressionOf(given) } },
      ...(differences.length > 0 ? { status: 'adapted', note: differences.join('; ') } : {}),
    };
  },
  place: dataIn('result'),
};

/** A field whose value gets its type when it is known. */
interface Conversion {
  readonly name: string;
  readonly type: keyof typeof converters;
}

interface Assigned {
  readonly fields: unknown;
  readonly conversions: readonly Conversion[];
  readonly notes: readonly string[];
}

// Each case is one line.
// oxlint-disable-next-line complexity
function assignedBy(reading: N8nReading): Assigned {
  const fields: Record<string, unknown> = {};
  const conversions: Conversion[] = [];
  const notes = new Set<string>();
  for (const { name, type, value, given, isTyped } of fieldsSet(reading)) {
    const path = splitsDots(reading) ? name.split('.') : [name];
    const isOpen = isTyped && isConverter(type) && isExpression(given);
    const isJson = isOpen && (type === 'array' || type === 'object');
    const isLone = isLoneExpression(given);
    assign(fields, path, isJson && isLone ? parsed(value) : typed(value, type));
    if (!isOpen || (type === 'string' && !isLone)) continue;
    if (isJson && !isLone) notes.add('a text that expressions make JSON of stays a text');
    else if (path.length === 1) conversions.push({ name, type });
    else notes.add('a field within a field keeps the type of its value');
  }
  return { fields, conversions, notes: [...notes] };
}

interface FieldSet {
  readonly name: string;
  readonly type: string;
  /** In our language. */
  readonly value: unknown;
  /** As it is in the document. */
  readonly given: unknown;
  /** Whether its type is more than a way to write it down. */
  readonly isTyped: boolean;
}

function fieldsSet(reading: N8nReading): readonly FieldSet[] {
  const lists = [
    { name: 'assignments', at: 'assignments', isTyped: true },
    { name: 'fields', at: 'values', isTyped: true },
  ];
  const listed = lists.flatMap(({ name, at, isTyped }) => {
    const raw = listOf(fieldsOf(reading.node.parameters[name])[at]).map(fieldsOf);
    const translated = listOf(fieldsOf(reading.read(name))[at]).map(fieldsOf);
    return raw.map((one, place) => fieldSet(one, translated[place] ?? {}, isTyped));
  });
  const old = Object.entries(fieldsOf(reading.read('values'))).flatMap(([type, list]) =>
    listOf(list).map((one) => fieldSet({}, { ...fieldsOf(one), type }, false)),
  );
  return [...listed, ...old];
}

function fieldSet(raw: Fields, translated: Fields, isTyped: boolean): FieldSet {
  const type = textOf(translated['type']).replace(/Value$/, '');
  const valueIn = (of: Fields) => of['value'] ?? of[`${type}Value`] ?? of['stringValue'];
  const name = textOf(translated['name']);
  return { name, type, value: valueIn(translated) ?? '', given: valueIn(raw), isTyped };
}

/** A lone placeholder whose value is read as JSON where it is a text. */
function parsed(value: unknown): string {
  return textOf(value).replace(/\s*\}\}$/, ' | parse_json }}');
}

function typed(value: unknown, type: string): unknown {
  if (typeof value !== 'string' || value.includes('{{')) return value;
  if (type === 'number') return numberOf(value) ?? value;
  if (type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true';
  return type === 'array' || type === 'object' ? (parseJson(value) ?? value) : value;
}

function splitsDots({ node }: N8nReading): boolean {
  return fieldsOf(node.parameters['options'])['dotNotation'] !== false;
}

function setsInner(reading: N8nReading): boolean {
  return splitsDots(reading) && fieldsSet(reading).some(({ name }) => name.includes('.'));
}

/** `a.b` sets a field within a field. */
function assign(
  fields: Record<string, unknown>,
  [name = '', ...rest]: readonly string[],
  value: unknown,
): void {
  if (rest.length === 0) {
    fields[name] = value;
    return;
  }
  const inner = { ...fieldsOf(Object.hasOwn(fields, name) ? fields[name] : undefined) };
  assign(inner, rest, value);
  fields[name] = inner;
}

function rawFields({ node }: N8nReading): unknown {
  const { jsonOutput } = node.parameters;
  if (isFields(jsonOutput)) return parseJson(JSON.stringify(jsonOutput));
  return isExpression(jsonOutput) ? undefined : parseJson(textOf(jsonOutput).replace(/^=/, ''));
}

/** What stays of the fields that come in, as JSONata; undefined for nothing. */
function keptOf(reading: N8nReading): string | undefined {
  const include = includedBy(reading);
  if (include === 'none') return undefined;
  if (include === 'all') return '$$.before';
  const names = JSON.stringify(listedNames(reading, include));
  const isKept = include === 'selected' ? `$k in ${names}` : `$not($k in ${names})`;
  return `$sift($$.before, function($v, $k) { ${isKept} })`;
}

type Include = 'all' | 'none' | 'selected' | 'except';

function includedBy({ node }: N8nReading): Include {
  const { include, includeOtherFields, keepOnlySet } = node.parameters;
  if (node.version < 3) return keepOnlySet === true ? 'none' : 'all';
  if (node.version >= 3.3 && includeOtherFields !== true) return 'none';
  return include === 'none' || include === 'selected' || include === 'except' ? include : 'all';
}

/** Names that a text lists; Fault `invalid` (`not_translatable`) for fields within fields. */
function listedNames(reading: N8nReading, include: Include): readonly string[] {
  const { parameters } = reading.node;
  const given = parameters[include === 'selected' ? 'includeFields' : 'excludeFields'];
  const text = textOf(given);
  const names = text.split(',').map((name) => name.trim());
  const isDeep = splitsDots(reading) && names.some((name) => /[.[]/.test(name));
  if (isExpression(given) || isDeep) {
    throw notTranslatable('the names of fields to keep or to leave out are not fixed ones');
  }
  return names;
}

/** What converts a value of `$v` that is there; a value that cannot be converted fails. */
const converters = {
  string: '$type($v) = "string" ? $v : $string($v)',
  number: '$type($v) = "string" ? ($trim($v) = "" ? 0 : $number($trim($v))) : $number($v)',
  boolean:
    '$lowercase($string($v)) in ["true", "1"] ? true : $lowercase($string($v)) in ["false", "0"] ? false : $error("no boolean")',
  array: '$type($v) = "array" ? $v : $error("no list")',
  object: '$type($v) = "object" ? $v : $error("no object")',
} as const;

function isConverter(type: string): type is keyof typeof converters {
  return Object.hasOwn(converters, type);
}

interface Expression {
  readonly kept: string | undefined;
  /** Where the fields that are set are. */
  readonly sets: string;
  readonly conversions: readonly Conversion[];
}

/** JSONata that brings together what stays and what is set, each with its type. */
function expressionOf({ kept, sets, conversions }: Expression): string {
  const parts = kept === undefined ? [sets] : [kept, sets];
  if (conversions.length === 0) return kept === undefined ? '$' : `$merge([${parts.join(', ')}])`;
  const types = [...new Set(conversions.map(({ type }) => type))];
  const functions = types.map(
    (type) =>
      `$to_${type} := function($v) { $exists($v) and $v != null ? (${converters[type]}) : null };`,
  );
  const fields = conversions.map(({ name, type }) => {
    const key = JSON.stringify(name);
    return `${key}: $to_${type}($lookup(${sets}, ${key}))`;
  });
  return `(${functions.join(' ')} $merge([${[...parts, `{ ${fields.join(', ')} }`].join(', ')}]))`;
}
