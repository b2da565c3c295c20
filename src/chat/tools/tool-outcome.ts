import { toStorableText } from '../../kit/storable-json.ts';
import { fieldOf } from './listed-tool.ts';
import type { ToolOutcome } from './tool.ts';

const bytesMax = 64 * 1024;

/** What `tools/call` answered, for the model that asked: texts as they are, all else in words. */
export function readOutcome(result: unknown): ToolOutcome {
  const blocks = fieldOf(result, 'content');
  const list: readonly unknown[] = Array.isArray(blocks) ? blocks : [];
  const isError = fieldOf(result, 'isError') === true;
  const hasText = list.some((block) => textOf(block) !== undefined);
  const structured = fieldOf(result, 'structuredContent');
  const said = list.map(describe).filter((text) => text !== '');
  if (!hasText && structured !== undefined) said.unshift(JSON.stringify(structured));
  const content = said.length > 0 ? said.join('\n') : '(The tool answered nothing.)';
  return { content: bounded(content), isError };
}

/** What went wrong, in words for a model. */
export function failed(message: string): ToolOutcome {
  return { content: bounded(message), isError: true };
}

function describe(block: unknown): string {
  const text = textOf(block);
  if (text !== undefined) return text;
  const type = fieldOf(block, 'type');
  if (type === 'image' || type === 'audio') return describeMedia(type, block);
  if (type === 'resource') return describeResource(fieldOf(block, 'resource'));
  if (type === 'resource_link') return describeLink(block);
  return typeof type === 'string' ? `[${inLine(type)}, which cannot be shown here]` : '';
}

function textOf(block: unknown): string | undefined {
  const resource = fieldOf(block, 'resource');
  const text = resource === undefined ? fieldOf(block, 'text') : fieldOf(resource, 'text');
  if (typeof text !== 'string') return undefined;
  if (resource === undefined) return text;
  return `[resource ${inLine(fieldOf(resource, 'uri'))}]\n${text}`;
}

function describeMedia(type: string, block: unknown): string {
  return `[${type}${kindOf(block)}, ${sizeOf(fieldOf(block, 'data'))}]`;
}

function describeResource(resource: unknown): string {
  const uri = inLine(fieldOf(resource, 'uri'));
  return `[resource ${uri}${kindOf(resource)}, ${sizeOf(fieldOf(resource, 'blob'))}]`;
}

function describeLink(block: unknown): string {
  const told = inLine(fieldOf(block, 'description'));
  const name = inLine(fieldOf(block, 'title') ?? fieldOf(block, 'name'));
  const uri = inLine(fieldOf(block, 'uri'));
  return `[link to the resource ${name}: ${uri}${kindOf(block)}]${told === '' ? '' : ` ${told}`}`;
}

function kindOf(value: unknown): string {
  const kind = inLine(fieldOf(value, 'mimeType'));
  return kind === '' ? '' : `, ${kind}`;
}

/** Of base64. */
function sizeOf(data: unknown): string {
  const bytes = typeof data === 'string' ? Math.floor((data.length * 3) / 4) : 0;
  return bytes < 10_000 ? `${bytes} bytes` : `${Math.round(bytes / 1000)} kB`;
}

function inLine(value: unknown): string {
  return typeof value === 'string' ? value.replaceAll(/\s+/g, ' ').slice(0, 1_000) : '';
}

/** At most 64 KiB, with a word on what is missing; never half a character, nor what SQL refuses. */
function bounded(text: string): string {
  const storable = toStorableText(text);
  const bytes = Buffer.from(storable);
  if (bytes.length <= bytesMax) return storable;
  const note = `\n[Cut: this is the beginning of ${Math.ceil(bytes.length / 1024)} KiB.]`;
  const room = bytesMax - Buffer.byteLength(note);
  // A character that is cut in two comes out as U+FFFD, at the end only.
  const kept = bytes
    .subarray(0, room)
    .toString()
    .replace(/\uFFFD{1,3}$/, '');
  return kept + note;
}
