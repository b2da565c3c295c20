import { ByteReader, ByteWriter } from '../bytes.ts';
import type { AttributeMap, AttributeValue } from './span.ts';

/*
 * Attributes as bytes: a mark, then each attribute's key and value. What is common is a number of one byte: a
 * key, and the beginning of a text.
 */

/** No deflated stream begins with it: its lowest bits name a kind of block that there is not (RFC 1951, 3.2.3). */
const mark = 7;

/** Rows depend on their order: new ones go behind the last. The first stands for what is not here. */
const keys = [
  '',
  'agent.id',
  'http.request.method',
  'http.route',
  'http.response.status_code',
  'url.path',
  'url.full',
  'url.scheme',
  'server.address',
  'server.port',
  'client.address',
  'network.peer.address',
  'network.protocol.version',
  'user_agent.original',
  'enduser.id',
  'user.id',
  'session.id',
  'error.type',
  'exception.type',
  'gen_ai.operation.name',
  'gen_ai.agent.name',
  'gen_ai.provider.name',
  'gen_ai.request.model',
  'gen_ai.response.model',
  'gen_ai.conversation.id',
  'gen_ai.usage.input_tokens',
  'gen_ai.usage.output_tokens',
  'db.system.name',
  'db.operation.name',
  'db.collection.name',
  'messaging.system',
  'messaging.destination.name',
  'rpc.system',
  'rpc.service',
  'rpc.method',
  'rpc.grpc.status_code',
  'faas.trigger',
  'workflow.id',
  'workflow.execution',
];
/** As the keys. */
const beginnings = [
  '',
  '/api/v1/',
  '/v1/',
  'http://',
  'https://',
  'agent-',
  'usr_',
  'Mozilla/5.0 ',
  'node-fetch/',
  '127.0.0.1',
  'GET',
  'POST',
  'chat',
  'invoke_agent',
  'openai',
  'anthropic',
  'gpt-',
  'claude-',
];

const keyNumbers = new Map(keys.map((key, number) => [key, number]));

/** Kinds of values; a text's is higher by the number of its beginning. */
const kinds = { json: 0, no: 1, yes: 2, whole: 3, float: 4, text: 8 } as const;

const wholeMax = 2 ** 51;

/** Whether bytes were written by `writeBriefTags`. */
export function areBriefTags(packed: Uint8Array): boolean {
  return packed[0] === mark;
}

const writer = new ByteWriter();

/** Attributes as bytes with memory of their own. */
export function writeBriefTags(attributes: AttributeMap): Uint8Array<ArrayBuffer> {
  writer.clear();
  writer.byte(mark);
  for (const [key, value] of Object.entries(attributes)) {
    const number = keyNumbers.get(key) ?? 0;
    writer.byte(number);
    if (number === 0) writer.text(key);
    writeValue(value);
  }
  return writer.finish();
}

/** The attributes that `writeBriefTags` wrote; anything else must not be given to it. */
export function readBriefTags(packed: Uint8Array): AttributeMap {
  const reader = new ByteReader(packed);
  const attributes: Record<string, AttributeValue> = {};
  for (reader.at = 1; !reader.isOver;) {
    const number = reader.byte();
    const key = number === 0 ? reader.text() : (keys[number] ?? '');
    attributes[key] = readValue(reader);
  }
  return attributes;
}

function writeValue(value: AttributeValue): void {
  if (typeof value === 'string') {
    const beginning = beginningOf(value);
    writer.byte(kinds.text + beginning);
    writer.text(value.slice(beginnings[beginning]?.length));
  } else if (typeof value === 'number') writeNumber(value);
  else if (typeof value === 'boolean') writer.byte(value ? kinds.yes : kinds.no);
  else {
    writer.byte(kinds.json);
    writer.text(JSON.stringify(value));
  }
}

function writeNumber(value: number): void {
  if (Number.isInteger(value) && Math.abs(value) < wholeMax) {
    writer.byte(kinds.whole);
    writer.signed(value);
  } else {
    writer.byte(kinds.float);
    writer.float(value);
  }
}

function beginningOf(text: string): number {
  for (let number = beginnings.length - 1; number > 0; number -= 1) {
    if (text.startsWith(beginnings[number] ?? '')) return number;
  }
  return 0;
}

function readValue(reader: ByteReader): AttributeValue {
  const kind = reader.byte();
  if (kind >= kinds.text) return `${beginnings[kind - kinds.text] ?? ''}${reader.text()}`;
  if (kind === kinds.whole) return reader.signed();
  if (kind === kinds.float) return reader.float();
  if (kind === kinds.json) return JSON.parse(reader.text()) as AttributeValue;
  return kind === kinds.yes;
}
