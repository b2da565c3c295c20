import { isRecord } from '../untrusted.ts';
import type { Json } from '../json.ts';

/**
 * What Anthropic's grammar knows of JSON schema. `oneOf` and limits on numbers and lengths are not
 * among it.
 */
const keywords: ReadonlySet<string> = new Set([
  '$schema',
  '$id',
  '$ref',
  '$defs',
  'definitions',
  'title',
  'description',
  'default',
  'examples',
  'type',
  'enum',
  'const',
  'anyOf',
  'allOf',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'minItems',
  'format',
  'pattern',
]);

const formats: ReadonlySet<unknown> = new Set([
  'date-time',
  'time',
  'date',
  'duration',
  'email',
  'hostname',
  'uri',
  'ipv4',
  'ipv6',
  'uuid',
]);

/** Whether answers can be held to the schema as it is meant. */
export function canHold(schema: unknown): boolean {
  if (!isRecord(schema)) return false;
  if (!Object.keys(schema).every((keyword) => keywords.has(keyword))) return false;
  const { format, minItems } = schema;
  if (format !== undefined && !formats.has(format)) return false;
  if (minItems !== undefined && minItems !== 0 && minItems !== 1) return false;
  return !isOpenMap(schema) && childrenOf(schema).every(canHold);
}

/**
 * The schema with every object closed, as Anthropic demands. That only narrows: what fits the closed
 * schema fits the open one.
 */
export function closeObjects(schema: Json): Json {
  const closed: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(schema)) closed[keyword] = close(keyword, value);
  if (isObjectSchema(schema)) closed.additionalProperties = false;
  return closed;
}

function close(keyword: string, value: unknown): unknown {
  if (maps.has(keyword) && isRecord(value)) {
    const entries = Object.entries(value);
    return Object.fromEntries(entries.map(([name, child]) => [name, closeChild(child)]));
  }
  if (lists.has(keyword) && Array.isArray(value)) return value.map(closeChild);
  return keyword === 'items' ? closeChild(value) : value;
}

function closeChild(value: unknown): unknown {
  return isRecord(value) ? closeObjects(value) : value;
}

const maps: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions']);
const lists: ReadonlySet<string> = new Set(['anyOf', 'allOf']);

function childrenOf(schema: Json): unknown[] {
  const children: unknown[] = [];
  for (const [keyword, value] of Object.entries(schema)) {
    if (maps.has(keyword) && isRecord(value)) children.push(...Object.values(value));
    else if (lists.has(keyword) && Array.isArray(value)) children.push(...(value as unknown[]));
    else if (keyword === 'items') children.push(value);
  }
  return children;
}

function isObjectSchema({ type, properties }: Json): boolean {
  return type === 'object' || properties !== undefined;
}

/** An object whose members have no names in the schema would have to be empty once it is closed. */
function isOpenMap(schema: Json): boolean {
  const { additionalProperties, properties } = schema;
  if (!isObjectSchema(schema) || additionalProperties === false) return false;
  return isRecord(additionalProperties) || properties === undefined;
}
