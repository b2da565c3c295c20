import type { ExportAttribute, ExportAttributes, ExportValue } from '../otlp/export-model.ts';
import type { JaegerTag } from './jaeger-json.ts';
import type { JsonField } from './json-field.ts';

/** Reads a list of typed tags; a value that is not of its type is taken as what it is. */
export function readTags(list: JsonField): ExportAttribute[] {
  return list.items().map((tag) => [tag.at('key').text(), readValue(tag)]);
}

/** The value of the first attribute of a name. */
export function valueOf(
  attributes: ExportAttributes | undefined,
  name: string,
): ExportValue | undefined {
  return attributes?.find(([key]) => key === name)?.[1];
}

/** Removes the first tag of a name and answers its value. */
export function takeTag(tags: ExportAttribute[], name: string): ExportValue | undefined {
  const index = tags.findIndex(([key]) => key === name);
  if (index === -1) return undefined;
  return tags.splice(index, 1)[0]?.[1];
}

/** The same for a tag that holds a text; any other stays. */
export function takeText(tags: ExportAttribute[], name: string): string | undefined {
  const value = valueOf(tags, name);
  if (typeof value !== 'string') return undefined;
  takeTag(tags, name);
  return value;
}

/** Attributes as typed tags. Lists and maps are written as JSON, as Jaeger does; null as an empty text. */
export function toTags(attributes: ExportAttributes = []): JaegerTag[] {
  return attributes.map(([key, value]) => toTag(key, value));
}

function toTag(key: string, value: ExportValue): JaegerTag {
  switch (typeof value) {
    case 'string':
      return { key, type: 'string', value };
    case 'boolean':
      return { key, type: 'bool', value };
    case 'bigint':
      return { key, type: 'int64', value: exactNumber(value) };
    case 'number':
      return { key, type: 'float64', value: Number.isFinite(value) ? value : String(value) };
    default:
      if (value instanceof Uint8Array) return { key, type: 'binary', value: base64(value) };
      return { key, type: 'string', value: value === null ? '' : JSON.stringify(plainOf(value)) };
  }
}

/** An integer that a JSON number cannot hold exactly becomes a text. */
function exactNumber(value: bigint): number | string {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value.toString();
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}

/** A list or a map as JSON has it. */
function plainOf(value: ExportValue): unknown {
  if (typeof value === 'bigint') return exactNumber(value);
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Uint8Array) return base64(value);
  if (!('pairs' in value)) return value.map(plainOf);
  return Object.fromEntries(value.pairs.map(([key, inner]) => [key, plainOf(inner)]));
}

function readValue(tag: JsonField): ExportValue {
  const field = tag.at('value');
  const type = tag.at('type').optionalText()?.toLowerCase();
  const { value } = field;
  if (typeof value === 'string') return writtenValue(value, type);
  if (type === 'float64' && typeof value === 'number') return value;
  return plainValue(field);
}

/** Jaeger writes large integers, and some exporters every value, as texts. */
function writtenValue(text: string, type: string | undefined): ExportValue {
  if (type === 'bool' && (text === 'true' || text === 'false')) return text === 'true';
  if (type === 'int64') return integerOf(text);
  if (type === 'float64') return numberOf(text);
  return type === 'binary' ? Buffer.from(text, 'base64') : text;
}

/** As deep as a stored value may be (see otlp/any-value). */
const depthMax = 32;

/** A value by what it is in JSON: whole numbers are integers. */
function plainValue(field: JsonField, depth = 1): ExportValue {
  const { value } = field;
  if (depth > depthMax) throw field.refusal('is nested too deeply');
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (!field.isPresent) return null;
  if (Array.isArray(value)) return field.items().map((item) => plainValue(item, depth + 1));
  return { pairs: field.entries().map(([key, inner]) => [key, plainValue(inner, depth + 1)]) };
}

const int64Max = 2n ** 63n;

/** Digits beyond 64 bits, and what is no number at all, stay a text. */
function integerOf(text: string): ExportValue {
  if (!/^-?\d{1,19}$/.test(text)) return text;
  const value = BigInt(text);
  return value >= -int64Max && value < int64Max ? value : text;
}

/** JSON has no number for what is none, nor for what is infinite. */
function numberOf(text: string): ExportValue {
  if (text === 'NaN') return Number.NaN;
  const value = Number(text);
  return text.trim() === '' || Number.isNaN(value) ? text : value;
}
