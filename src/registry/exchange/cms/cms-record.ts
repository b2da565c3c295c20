import { isDeepStrictEqual } from 'node:util';
import { protocolsByTransport } from '../client-config.ts';
import { isRecord, listOf, recordOf, textOf, type Json } from '../json-values.ts';

/**
 * What is compared, flat: `description` and `metadata.<key>` belong to the CMS, `name`, `protocol`,
 * `endpoint` and `capabilities` to the registry. A field that is not there has no value.
 */
export type Fields = Json;

/** A server as a CMS tells it. */
export interface CmsRecord {
  readonly id: string;
  readonly name: string;
  /** Ours, where the CMS kept it. */
  readonly connectionId: string | undefined;
  readonly fields: Fields;
  /** Whether the CMS told metadata; without, no key of it was removed there. */
  readonly hasMetadata: boolean;
  /** Whether the CMS has bundles; without, nothing says that it is in none. */
  readonly hasBundles: boolean;
  readonly isRemoved: boolean;
}

/** What can be told of a record that has no id or no name. */
export type UnreadRecord = Partial<Pick<CmsRecord, 'id' | 'name' | 'connectionId'>>;

const metadataKeysMax = 100;
const textMax = 4_096;

/** Reads a record in any of the usual forms, JSON:API's `attributes` too; undefined when it has no id or name. */
export function readRecord(value: unknown): CmsRecord | undefined {
  const { id, name, connectionId } = identify(value);
  if (id === undefined || name === undefined) return undefined;
  const at = attributesOf(value);
  const labels = at.get('metadata') ?? at.get('labels');
  return {
    id,
    name,
    connectionId,
    fields: readFields(at, name, labels),
    hasMetadata: isRecord(labels),
    hasBundles: false,
    isRemoved: at.get('deleted') === true || at.get('status') === 'deleted',
  };
}

/** As much as a record tells of which one it is. */
export function identify(value: unknown): UnreadRecord {
  const at = attributesOf(value);
  const id = readRecordId(value);
  const name = textOf(at.get('name')) ?? textOf(at.get('title')) ?? textOf(at.get('label'));
  const connectionId = textOf(at.get('connectionId')) ?? textOf(at.get('connection_id'));
  return {
    ...(id === undefined ? {} : { id }),
    ...(name === undefined ? {} : { name }),
    ...(connectionId === undefined ? {} : { connectionId }),
  };
}

/** The id of a record, or of the record in an answer to its creation. */
export function readRecordId(value: unknown): string | undefined {
  const record = recordOf(value);
  const found = record['id'] ?? record['uuid'] ?? record['nid'];
  const id = typeof found === 'number' ? String(found) : textOf(found);
  // It becomes a part of a path.
  return id !== undefined && /^[\w.:~-]{1,128}$/.test(id) && !/^\.+$/.test(id) ? id : undefined;
}

function attributesOf(value: unknown): Attributes {
  const record = recordOf(value);
  return new Attributes({ ...record, ...recordOf(record['attributes']) });
}

/** The fields by their names, or with Drupal's prefix. */
class Attributes {
  readonly #values: Json;

  constructor(values: Json) {
    this.#values = values;
  }

  get(name: string): unknown {
    const snake = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    for (const key of [name, `field_${snake}`, `field_mcp_${snake}`]) {
      const value = this.#values[key];
      if (value !== undefined && value !== null) return value;
    }
    return undefined;
  }
}

function readFields(at: Attributes, name: string, labels: unknown): Fields {
  const description = readText(at.get('description') ?? at.get('body'));
  const endpoint = readEndpoint(at);
  const protocol = readProtocol(at, endpoint);
  const capabilities = readNames(at.get('capabilities') ?? at.get('tools'));
  const metadata = Object.entries(recordOf(labels)).filter(isLabel).slice(0, metadataKeysMax);
  return {
    name,
    ...(description === undefined ? {} : { description }),
    ...(endpoint ? { endpoint } : {}),
    ...(protocol ? { protocol } : {}),
    ...(capabilities ? { capabilities } : {}),
    ...Object.fromEntries(metadata.map(([key, value]) => [`metadata.${key}`, value])),
  };
}

function isLabel([key]: readonly [string, unknown]): boolean {
  return key.length <= 128 && !['__proto__', 'constructor', 'prototype'].includes(key);
}

/** A text, or one in `value`, as fields with a format are told. */
function readText(value: unknown): string | undefined {
  const text = isRecord(value) ? value['value'] : value;
  return typeof text === 'string' ? text.slice(0, textMax) : undefined;
}

function readNames(value: unknown): readonly string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return listOf(value).flatMap((one) => textOf(one) ?? textOf(recordOf(one)['name']) ?? []);
}

function readProtocol(at: Attributes, endpoint: Json | undefined): string | undefined {
  const told = textOf(at.get('protocol')) ?? textOf(at.get('transport'));
  const known = told === undefined ? undefined : protocolsByTransport.get(told.toLowerCase());
  if (known || !endpoint) return known;
  if ('command' in endpoint) return 'stdio';
  return /^wss?:/i.test(String(endpoint['url'])) ? 'websocket' : 'http';
}

/** `{command, args}` or `{url}`, told as an object, as its JSON, as an address or beside the rest. */
function readEndpoint(at: Attributes): Json | undefined {
  const told = at.get('endpoint');
  if (typeof told === 'string') return endpointOf(parseEndpoint(told));
  if (isRecord(told)) return endpointOf(told);
  return endpointOf({ command: at.get('command'), args: at.get('args'), url: at.get('url') });
}

function parseEndpoint(text: string): Json {
  if (!text.startsWith('{')) return { url: text };
  try {
    return recordOf(JSON.parse(text));
  } catch {
    return {};
  }
}

function endpointOf({ command, args, url, uri }: Json): Json | undefined {
  const address = textOf(url) ?? textOf(uri);
  if (address) return { url: address };
  if (!textOf(command)) return undefined;
  return { command, args: listOf(args).filter((one) => typeof one === 'string') };
}

/** Whether two values of a field are the same; a list's order counts. */
export function isSame(one: unknown, other: unknown): boolean {
  return isDeepStrictEqual(one, other);
}
