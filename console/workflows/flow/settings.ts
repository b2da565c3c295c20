/** A JSON Schema as components tell theirs. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** How a setting is entered. */
export type Control =
  | { readonly kind: 'line' | 'text' | 'code' | 'secret' | 'number' | 'switch' | 'lines' }
  | { readonly kind: 'choice'; readonly options: readonly string[] }
  /** `isStrict`: a text that is no JSON is a mistake and no value. */
  | { readonly kind: 'json'; readonly isStrict: boolean }
  | { readonly kind: 'rows'; readonly fields: Fields; readonly required: readonly string[] };

export type Fields = Readonly<Record<string, JsonSchema>>;

/** The control for a setting, by its schema and what `x-ennead` says of it. */
export function controlOf(schema: JsonSchema): Control {
  const options = alternativesOf(schema);
  const [only] = options;
  if (options.length === 1 && only) return controlOf({ ...schema, anyOf: undefined, ...only });
  const { 'x-ennead': marker, type } = schema;
  if (marker === 'secret') return { kind: 'secret' };
  if (marker === 'cel' || (marker === 'code' && type === 'string')) return { kind: 'code' };
  if (marker === 'multiline') return { kind: 'text' };
  if (options.length > 1) return controlOfAlternatives(options);
  const words = schema['enum'];
  if (Array.isArray(words) && words.every((word) => typeof word === 'string')) {
    return { kind: 'choice', options: words };
  }
  return controlOfType(schema);
}

function controlOfType(schema: JsonSchema): Control {
  switch (schema['type']) {
    case 'string':
      return { kind: 'line' };
    case 'integer':
    case 'number':
      return { kind: 'number' };
    case 'boolean':
      return { kind: 'switch' };
    case 'array':
      return controlOfList(asSchema(schema['items']));
    case 'object':
      return { kind: 'json', isStrict: true };
    default:
      return { kind: 'json', isStrict: false };
  }
}

function controlOfList(items: JsonSchema): Control {
  if (items['type'] === 'string') return { kind: 'lines' };
  const fields = items['properties'];
  if (items['type'] !== 'object' || !isRecord(fields)) return { kind: 'json', isStrict: true };
  const required: readonly unknown[] = Array.isArray(items['required']) ? items['required'] : [];
  return {
    kind: 'rows',
    fields: Object.fromEntries(
      Object.entries(fields).map(([key, field]) => [key, asSchema(field)]),
    ),
    required: required.filter((name) => typeof name === 'string'),
  };
}

function controlOfAlternatives(options: readonly JsonSchema[]): Control {
  const types = new Set(options.map((option) => (option['enum'] ? 'string' : option['type'])));
  const hasParts = types.has('object') || types.has('array');
  return hasParts ? { kind: 'json', isStrict: !types.has('string') } : { kind: 'line' };
}

function alternativesOf(schema: JsonSchema): readonly JsonSchema[] {
  const { anyOf } = schema;
  return Array.isArray(anyOf) ? anyOf.map(asSchema) : [];
}

function asSchema(value: unknown): JsonSchema {
  return isRecord(value) ? value : {};
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What was typed: a value, none for an empty text, or why it is none. */
export type Typed = { readonly value: unknown } | { readonly flaw: string };

/** The value of a text that was typed into a control. Texts with placeholders stay texts everywhere. */
export function readTyped(control: Control, text: string): Typed {
  if (text.trim() === '') return { value: undefined };
  if (control.kind === 'number') return { value: readNumber(text.trim()) };
  if (control.kind === 'lines') return { value: readLines(text) };
  if (control.kind === 'json') return readJson(text, control.isStrict);
  return { value: text };
}

/** A value as the text of a control. */
export function writeTyped({ kind }: Control, value: unknown): string {
  if (value === undefined) return '';
  if (kind === 'lines' && Array.isArray(value)) return value.join('\n');
  if (typeof value !== 'string') return JSON.stringify(value, null, 2);
  return kind === 'json' && isJson(value) ? JSON.stringify(value) : value;
}

/** A text that is only a placeholder may stand for a value of any type. */
export function isPlaceholder(value: unknown): value is string {
  return typeof value === 'string' && value.includes('{{');
}

function readNumber(text: string): unknown {
  return /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text;
}

function readLines(text: string): unknown {
  return isPlaceholder(text) && !text.includes('\n')
    ? text
    : text.split('\n').filter((line) => line.trim() !== '');
}

function readJson(text: string, isStrict: boolean): Typed {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    const isMeantAsJson = isStrict || /^\s*[[{]/.test(text);
    if (isMeantAsJson && !isPlaceholder(text)) return { flaw: 'This is no JSON yet.' };
    return { value: text };
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
