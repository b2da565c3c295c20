import type {
  FilePart,
  ImagePart,
  Source,
  TextPart,
  ToolResultPart,
} from '../../conversation/request.ts';
import {
  expectList,
  expectName,
  expectObject,
  expectText,
  invalid,
  isAbsent,
  placeOf,
  readFlag,
  readMark,
  type Fields,
  type Remainder,
} from './fields.ts';

const textFields: ReadonlySet<string> = new Set(['type', 'text', 'cache_control']);
const imageFields: ReadonlySet<string> = new Set(['type', 'source', 'cache_control']);
const documentFields: ReadonlySet<string> = new Set([
  'type',
  'source',
  'title',
  'citations',
  'cache_control',
]);
const resultFields: ReadonlySet<string> = new Set([
  'type',
  'tool_use_id',
  'content',
  'is_error',
  'cache_control',
]);

/** A block of text, which must be one. */
export function readTextBlock(block: Fields, path: string, remainder: Remainder): TextPart {
  if (block.type !== 'text') throw invalid(`${path}.type`, 'must be "text"');
  remainder.keepOthers(block, textFields, `${path}.`);
  return {
    type: 'text',
    text: expectText(block.text, `${path}.text`),
    cache: readMark(block.cache_control, `${path}.cache_control`),
  };
}

/** A block of a user; undefined for one of a kind that our words cannot hold, which is kept. */
export function readUserBlock(
  block: Fields,
  path: string,
  remainder: Remainder,
): TextPart | ImagePart | FilePart | undefined {
  if (block.type === 'text') return readTextBlock(block, path, remainder);
  if (block.type === 'image') return readImage(block, path, remainder);
  if (block.type === 'document') return readDocument(block, path, remainder);
  return keepBlock(block, path, remainder);
}

/** Keeps a block of a kind that our words cannot hold. */
export function keepBlock(block: Fields, path: string, remainder: Remainder): undefined {
  expectName(block.type, `${path}.type`);
  remainder.keep(path, block);
}

/** What a tool gave. */
export function readResult(block: Fields, path: string, remainder: Remainder): ToolResultPart {
  remainder.keepOthers(block, resultFields, `${path}.`);
  return {
    type: 'tool-result',
    callId: expectName(block.tool_use_id, `${path}.tool_use_id`),
    content: readResultContent(block.content, `${path}.content`, remainder),
    isError: readFlag(block.is_error, `${path}.is_error`),
    cache: readMark(block.cache_control, `${path}.cache_control`),
  };
}

function readResultContent(
  value: unknown,
  path: string,
  remainder: Remainder,
): (TextPart | ImagePart)[] {
  if (isAbsent(value)) return [];
  if (typeof value === 'string') return value === '' ? [] : [{ type: 'text', text: value }];
  return expectList(value, path).flatMap((item, index) => {
    const at = `${path}.${index}`;
    const block = expectObject(item, at);
    const part =
      block.type === 'document'
        ? keepBlock(block, at, remainder)
        : readUserBlock(block, at, remainder);
    return part && part.type !== 'file' ? [part] : [];
  });
}

function readImage(block: Fields, path: string, remainder: Remainder): ImagePart | undefined {
  const source = readSource(block.source, `${path}.source`);
  if (!source) return keepBlock(block, path, remainder);
  remainder.keepOthers(block, imageFields, `${path}.`);
  return {
    type: 'image',
    source,
    at: placeOf(`${path}.source`),
    cache: readMark(block.cache_control, `${path}.cache_control`),
  };
}

function readDocument(block: Fields, path: string, remainder: Remainder): FilePart | undefined {
  const source = readSource(block.source, `${path}.source`);
  if (!source) return keepBlock(block, path, remainder);
  remainder.keepOthers(block, documentFields, `${path}.`);
  const { citations, title } = block;
  if (!isAbsent(citations) && expectObject(citations, `${path}.citations`).enabled === true)
    remainder.keep(`${path}.citations`, citations);
  return {
    type: 'file',
    source,
    at: placeOf(`${path}.source`),
    name: isAbsent(title) ? undefined : expectText(title, `${path}.title`),
    cache: readMark(block.cache_control, `${path}.cache_control`),
  };
}

/** Undefined for sources that lie at Anthropic, or are made of blocks themselves. */
function readSource(value: unknown, path: string): Source | undefined {
  const source = expectObject(value, path);
  if (source.type === 'url') return { kind: 'url', url: expectName(source.url, `${path}.url`) };
  if (source.type === 'text') {
    const base64 = Buffer.from(expectText(source.data, `${path}.data`)).toString('base64');
    return { kind: 'bytes', mediaType: 'text/plain', base64 };
  }
  if (source.type !== 'base64') {
    expectName(source.type, `${path}.type`);
    return undefined;
  }
  return {
    kind: 'bytes',
    mediaType: expectName(source.media_type, `${path}.media_type`),
    base64: expectName(source.data, `${path}.data`),
  };
}
