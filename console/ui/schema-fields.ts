import { readJson } from './entry-text.ts';

/** How a property of a JSON schema is asked for. */
export type FieldKind = 'text' | 'number' | 'boolean' | 'choice' | 'json';

/** One property of an object's schema, as a form asks for it. */
export interface SchemaField {
  readonly name: string;
  readonly kind: FieldKind;
  readonly isRequired: boolean;
  readonly description: string | undefined;
  /** What the schema says it is when nothing is given. */
  readonly fallback: unknown;
  /** Of a choice: the values that there are. */
  readonly choices: readonly unknown[];
  /** Bounds and such, in words. */
  readonly limits: string;
  readonly isWhole: boolean;
}

/** What stands in a form, by the names of its fields: texts, and for booleans whether they are set. Absent: untouched. */
export type FormDraft = Readonly<Record<string, string | boolean>>;

export interface FormReading {
  readonly value: Readonly<Record<string, unknown>>;
  /** What cannot be read, by the name of the field. */
  readonly flaws: Readonly<Record<string, string>>;
}

type Schema = Readonly<Record<string, unknown>>;

/** The fields of an object's schema; none where it is no schema of an object with named properties. */
export function fieldsOf(schema: unknown): readonly SchemaField[] {
  const { properties, required } = recordOf(schema);
  const needed = new Set(Array.isArray(required) ? required : []);
  return Object.entries(recordOf(properties)).map(([name, property]) =>
    fieldOf(name, recordOf(property), needed.has(name)),
  );
}

/** The values that a form begins with: what the schema names as defaults. */
export function draftOf(fields: readonly SchemaField[]): FormDraft {
  const known = fields.filter(({ fallback }) => fallback !== undefined);
  return Object.fromEntries(
    known.map((field): [string, string | boolean] => [field.name, writeValue(field)]),
  );
}

/** What a filled form means. Fields that are empty are left out. */
export function readForm(fields: readonly SchemaField[], draft: FormDraft): FormReading {
  const value: Record<string, unknown> = {};
  const flaws: Record<string, string> = {};
  for (const field of fields) {
    const entry = draft[field.name];
    if (entry === undefined || entry === '') continue;
    try {
      value[field.name] = typeof entry === 'boolean' ? entry : readEntry(field, entry);
    } catch (error) {
      flaws[field.name] = error instanceof Error ? error.message : String(error);
    }
  }
  return { value, flaws };
}

function fieldOf(name: string, property: Schema, isRequired: boolean): SchemaField {
  const choices = choicesOf(property);
  const description = property['description'] ?? property['title'];
  return {
    name,
    kind: choices.length > 0 ? 'choice' : kindOf(property['type']),
    isRequired,
    description: typeof description === 'string' ? description : undefined,
    fallback: property['default'],
    choices,
    limits: limitsOf(property),
    isWhole: property['type'] === 'integer',
  };
}

function choicesOf(property: Schema): readonly unknown[] {
  if ('const' in property) return [property['const']];
  return Array.isArray(property['enum']) ? property['enum'] : [];
}

function kindOf(type: unknown): FieldKind {
  if (type === 'string') return 'text';
  if (type === 'number' || type === 'integer') return 'number';
  return type === 'boolean' ? 'boolean' : 'json';
}

const limitWords: readonly (readonly [key: string, word: string])[] = [
  ['minimum', 'at least'],
  ['exclusiveMinimum', 'more than'],
  ['maximum', 'at most'],
  ['exclusiveMaximum', 'less than'],
  ['minLength', 'characters at least'],
  ['maxLength', 'characters at most'],
  ['pattern', 'as'],
  ['format', 'format'],
];

function limitsOf(property: Schema): string {
  const limits = limitWords
    .filter(([key]) => ['string', 'number'].includes(typeof property[key]))
    .map(([key, word]) => `${word} ${String(property[key])}`);
  return [typeWord(property), ...limits].filter(Boolean).join(', ');
}

function typeWord({ type, items }: Schema): string {
  if (type === 'integer') return 'a whole number';
  if (type === 'array') return `a JSON array${itemWord(recordOf(items)['type'])}`;
  if (Array.isArray(type)) return `JSON: ${type.join(' or ')}`;
  if (type === 'object') return 'a JSON object';
  return kindOf(type) === 'json' ? 'JSON' : '';
}

function itemWord(type: unknown): string {
  return typeof type === 'string' ? ` of ${type}s` : '';
}

function writeValue({ kind, fallback }: SchemaField): string | boolean {
  if (kind === 'boolean') return fallback === true;
  if (kind === 'text' && typeof fallback === 'string') return fallback;
  return JSON.stringify(fallback);
}

function readEntry({ name, kind, isWhole }: SchemaField, entry: string): unknown {
  if (kind === 'text') return entry;
  if (kind !== 'number') return readJson(entry, name);
  const number = Number(entry);
  if (Number.isNaN(number)) throw new TypeError(`${name} must be a number`);
  if (isWhole && !Number.isInteger(number)) throw new TypeError(`${name} must be a whole number`);
  return number;
}

function recordOf(value: unknown): Schema {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? (value as Schema) : {};
}
