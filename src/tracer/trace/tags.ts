import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { areBriefTags, readBriefTags, writeBriefTags } from './brief-tags.ts';
import type { AttributeMap, AttributeValue } from './span.ts';

/*
 * The attributes of a root lie in its trace's row, so that a listing needs no spans. Short ones lie there in
 * a brief form; those that take more are deflated with a dictionary (RFC 1951 with a preset window).
 */

const tagsMax = 64;
const textMax = 256;
const bytesMax = 4_096;
/** To deflate takes several times as long as to write the brief form. */
const briefMax = 320;

/** What attributes of roots are mostly made of, the commonest last. Rows depend on it: never change it. */
const dictionary = Buffer.from(
  '","faas.trigger":"http","messaging.destination.name":"","messaging.system":"kafka' +
    '","rpc.system":"grpc","rpc.service":"","rpc.method":"","rpc.grpc.status_code":0' +
    ',"db.system.name":"postgresql","db.operation.name":"SELECT","db.collection.name":"' +
    '","exception.type":"TimeoutError","error.type":"","http.response.status_code":500' +
    ',"gen_ai.operation.name":"invoke_agent","gen_ai.agent.name":"","gen_ai.provider.name":"anthropic' +
    '","gen_ai.operation.name":"chat","gen_ai.provider.name":"openai","gen_ai.request.model":"gpt-4o-mini' +
    '","gen_ai.response.model":"","gen_ai.conversation.id":"","gen_ai.usage.input_tokens":' +
    ',"gen_ai.usage.output_tokens":,"agent.id":"agent-","session.id":"","user.id":"","enduser.id":"usr_' +
    '","network.peer.address":"127.0.0.1","client.address":"127.0.0.1","network.protocol.version":"1.1' +
    '","user_agent.original":"Mozilla/5.0 (node-fetch/","server.address":"localhost","server.port":443' +
    ',"url.scheme":"https","url.scheme":"http","url.full":"http://","url.path":"/api/v1/' +
    '","http.request.method":"GET","http.request.method":"POST","http.route":"/v1/' +
    '","http.response.status_code":200}',
);

/** Packs attributes: at most 64, long texts cut; undefined when there are none. */
export function packTags(attributes: AttributeMap): Buffer | undefined {
  const kept: Record<string, AttributeValue> = {};
  let bytes = 0;
  let count = 0;
  for (const [key, value] of Object.entries(attributes)) {
    const short = shorten(value);
    bytes += key.length + lengthOf(short);
    if (count >= tagsMax || bytes > bytesMax) break;
    kept[key] = short;
    count += 1;
  }
  if (count === 0) return undefined;
  const brief = writeBriefTags(kept);
  if (brief.length <= briefMax) return Buffer.from(brief.buffer);
  return deflateRawSync(JSON.stringify(kept), {
    dictionary,
    level: 6,
    windowBits: 12,
    memLevel: 5,
  });
}

/** The attributes that were packed. */
export function unpackTags(packed: Uint8Array | null): AttributeMap {
  if (!packed) return {};
  if (areBriefTags(packed)) return readBriefTags(packed);
  return JSON.parse(inflateRawSync(packed, { dictionary }).toString()) as AttributeMap;
}

/** About what a value takes as JSON. */
function lengthOf(value: AttributeValue): number {
  return typeof value === 'string' ? value.length + 2 : JSON.stringify(value).length;
}

function shorten(value: AttributeValue): AttributeValue {
  if (typeof value === 'string') {
    return value.length > textMax ? `${value.slice(0, textMax)}…` : value;
  }
  if (typeof value !== 'object' || value === null) return value;
  const text = JSON.stringify(value);
  return text.length > textMax ? `${text.slice(0, textMax)}…` : value;
}
