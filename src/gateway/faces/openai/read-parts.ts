import type {
  AudioPart,
  CacheMark,
  FilePart,
  ImagePart,
  Source,
  TextPart,
  UserPart,
} from '../../conversation/request.ts';
import { isAbsent, nameAt, objectAt, textAt, textOrNone, wrong, type Json } from './fields.ts';

/** A part of a user's content; undefined for one that only an upstream of this dialect may know. */
export function readUserPart(value: unknown, at: string): UserPart | undefined {
  const part = objectAt(value, at);
  switch (textAt(part['type'], `${at}.type`)) {
    case 'text':
      return readText(part, at);
    case 'image_url':
      return readImage(part, at);
    case 'input_audio':
      return readAudio(part['input_audio'], `${at}.input_audio`);
    case 'file':
      return readFile(part, at);
    default:
      return undefined;
  }
}

/** Fields of parts of the types that are read. */
const known = new Set(['type', 'text', 'image_url', 'input_audio', 'file', 'cache_control']);

/** Keeps what else a part of a known type says, by its place in the body. */
export function keepPartRest(value: unknown, at: string, extras: Record<string, unknown>): void {
  const part = objectAt(value, at);
  for (const name in part) {
    if (known.has(name) || isAbsent(part[name])) continue;
    if (!/^[\w-]+$/.test(name) || name === '__proto__')
      throw wrong(at, 'has a field with a name that cannot be');
    extras[`${at}.${name}`] = part[name];
  }
}

/** A part of type `text`, with the cache mark that OpenRouter and others take. */
export function readText(part: Json, at: string): TextPart {
  return markText(textAt(part['text'], `${at}.text`), part, at);
}

/** A text with the mark of the part or message that says it. */
export function markText(text: string, { cache_control: mark }: Json, at: string): TextPart {
  // A spread takes longer than the rest of a message, and few have a mark.
  return isAbsent(mark) ? { type: 'text', text } : { type: 'text', text, ...readMark(mark, at) };
}

/** The mark of a part, message or tool, as its `cache`. */
export function readMark(value: unknown, at: string): { cache?: CacheMark } {
  if (isAbsent(value)) return {};
  const ttl = textOrNone(objectAt(value, `${at}.cache_control`)['ttl'], `${at}.cache_control.ttl`);
  return { cache: ttl === undefined ? {} : { ttl } };
}

/** Bytes of a `data:` address, or an `https:` or `http:` one (RFC 2397). */
export function readSource(value: unknown, at: string): Source {
  const url = nameAt(value, at);
  if (/^https?:\/\//i.test(url)) return { kind: 'url', url };
  const comma = url.indexOf(',');
  const head = /^data:([\w.+/-]+)(?:;[\w=.-]+)*;base64$/i.exec(url.slice(0, Math.max(0, comma)));
  const mediaType = head?.[1]?.toLowerCase();
  if (mediaType === undefined) {
    throw wrong(at, 'must be an http(s) address or a data: address in base64');
  }
  return { kind: 'bytes', mediaType, base64: url.slice(comma + 1) };
}

function readImage(part: Json, at: string): ImagePart {
  const { image_url: image } = part;
  const place = `${at}.image_url`;
  // Mistral takes the address itself.
  if (typeof image === 'string') {
    return { type: 'image', source: readSource(image, place), at: place };
  }
  const { url, detail } = objectAt(image, place);
  const closeness = textOrNone(detail, `${place}.detail`);
  return {
    type: 'image',
    source: readSource(url, `${place}.url`),
    at: place,
    ...(closeness !== undefined && { detail: closeness }),
    ...readMark(part['cache_control'], at),
  };
}

function readAudio(value: unknown, at: string): AudioPart {
  const { data, format } = objectAt(value, at);
  const base64 = nameAt(data, `${at}.data`);
  if (format !== 'wav' && format !== 'mp3') throw wrong(`${at}.format`, 'must be wav or mp3');
  return { type: 'audio', format, base64, at };
}

/** A file that lies at OpenAI (`file_id`) is nothing to anybody else. */
function readFile(part: Json, at: string): FilePart | undefined {
  const place = `${at}.file`;
  const { file_id: id, file_data: data, filename } = objectAt(part['file'], place);
  if (!isAbsent(id) && isAbsent(data)) return undefined;
  const name = textOrNone(filename, `${place}.filename`);
  return {
    type: 'file',
    source: readFileData(data, `${place}.file_data`),
    at: place,
    ...(name !== undefined && { name }),
    ...readMark(part['cache_control'], at),
  };
}

/** A data: address, or the base64 of a PDF alone. */
export function readFileData(value: unknown, at: string): Source {
  const data = nameAt(value, at);
  if (data.includes(':')) return readSource(data, at);
  return { kind: 'bytes', mediaType: 'application/pdf', base64: data };
}
