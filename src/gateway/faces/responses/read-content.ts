import type {
  AssistantPart,
  FilePart,
  ImagePart,
  TextPart,
  UserPart,
} from '../../conversation/request.ts';
import {
  isAbsent,
  listAt,
  objectAt,
  textAt,
  textOrNone,
  unsupported,
  wrong,
  type Json,
} from '../openai/fields.ts';
import { readFileData, readSource } from '../openai/read-parts.ts';

/** The content of a user's message: a text, or parts of the types `input_*`. */
export function readUserContent(value: unknown, at: string): UserPart[] {
  if (typeof value === 'string') return [{ type: 'text', text: value }];
  return partsOf(value, at).map(([part, place]) => readInput(part, place));
}

/** The content of a system or developer message: texts only. */
export function readTexts(value: unknown, at: string): TextPart[] {
  return readUserContent(value, at).map((part, index) => {
    if (part.type === 'text') return part;
    throw wrong(`${at}[${index}].type`, 'must be input_text');
  });
}

/** What an assistant said: `output_text` and `refusal`. */
export function readSpoken(value: unknown, at: string): AssistantPart[] {
  if (typeof value === 'string') return [{ type: 'text', text: value }];
  return partsOf(value, at).map(([part, place]) => {
    const { type } = part;
    if (type === 'refusal') {
      return { type: 'refusal', text: textAt(part['refusal'], `${place}.refusal`) };
    }
    if (type !== 'output_text' && type !== 'input_text' && type !== 'text') {
      throw wrong(`${place}.type`, 'must be output_text or refusal');
    }
    return { type: 'text', text: textAt(part['text'], `${place}.text`) };
  });
}

/** What a function gave back: a text, or parts of text and images. */
export function readOutput(value: unknown, at: string): (TextPart | ImagePart)[] {
  return readUserContent(value, at).map((part, index) => {
    if (part.type === 'text' || part.type === 'image') return part;
    throw unsupported(`${at}[${index}]`, 'is not supported: give text or images');
  });
}

function partsOf(value: unknown, at: string): [part: Json, place: string][] {
  return listAt(value, at).map((item, index) => {
    const place = `${at}[${index}]`;
    return [objectAt(item, place), place];
  });
}

function readInput(part: Json, at: string): UserPart {
  switch (textAt(part['type'], `${at}.type`)) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return { type: 'text', text: textAt(part['text'], `${at}.text`) };
    case 'input_image':
      return readImage(part, at);
    case 'input_file':
      return readFile(part, at);
    default:
      throw wrong(`${at}.type`, 'must be input_text, input_image or input_file');
  }
}

function readImage(part: Json, at: string): ImagePart {
  refuseStored(part, at);
  const detail = textOrNone(part['detail'], `${at}.detail`);
  return {
    type: 'image',
    source: readSource(part['image_url'], `${at}.image_url`),
    at: `${at}.image_url`,
    ...(detail !== undefined && { detail }),
  };
}

function readFile(part: Json, at: string): FilePart {
  refuseStored(part, at);
  const { file_url: url, file_data: data } = part;
  const name = textOrNone(part['filename'], `${at}.filename`);
  const place = isAbsent(url) ? `${at}.file_data` : `${at}.file_url`;
  const source = isAbsent(url) ? readFileData(data, place) : readSource(url, place);
  return { type: 'file', source, at: place, ...(name !== undefined && { name }) };
}

function refuseStored(part: Json, at: string): void {
  if (!isAbsent(part['file_id'])) {
    throw unsupported(`${at}.file_id`, 'is not supported: nothing is stored here');
  }
}
