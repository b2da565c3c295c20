import { hash } from 'node:crypto';
import type {
  AssistantPart,
  CacheMark,
  ChatRequest,
  ImagePart,
  Message,
  Source,
  TextPart,
  ToolResultPart,
  UserPart,
} from '../../conversation/request.ts';
import { signatureOf } from '../signatures.ts';
import { parseArguments, unsayable } from '../untrusted.ts';
import type { Json } from '../json.ts';

type Block = Json;

interface Turn {
  readonly role: 'user' | 'assistant';
  readonly content: Block[];
}

/**
 * The conversation as turns that take turns: neighbours of one role are one, and results of tools
 * stand in the user's. Parts without any text are left out, because Anthropic refuses them.
 */
export function writeMessages(messages: readonly Message[]): readonly Turn[] {
  const turns: Turn[] = [];
  for (const message of messages) {
    if (message.role === 'system') continue;
    const content = writeMessage(message);
    if (content.length === 0) continue;
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const last = turns.at(-1);
    if (last?.role === role) last.content.push(...content);
    else turns.push({ role, content });
  }
  trimEnd(turns.at(-1));
  return turns;
}

/** The instructions of the whole conversation, wherever they stand. */
export function writeSystem({ messages }: ChatRequest): readonly Block[] {
  const blocks: Block[] = [];
  for (const { role, parts } of messages) {
    if (role !== 'system') continue;
    for (const part of parts) if (part.text !== '') blocks.push(writeText(part));
  }
  return blocks;
}

/** Anthropic's `cache_control`, to be spread; nothing without a mark. */
export function writeMark(cache: CacheMark | undefined): Json {
  if (!cache) return {};
  const { ttl } = cache;
  return { cache_control: ttl === undefined ? { type: 'ephemeral' } : { type: 'ephemeral', ttl } };
}

function writeMessage(message: Exclude<Message, { role: 'system' }>): Block[] {
  if (message.role === 'tool') return message.parts.map(writeResult);
  if (message.role === 'user') return message.parts.filter(isSaid).map(writeUserPart);
  return message.parts.flatMap(writeAssistantPart);
}

function isSaid(part: UserPart): boolean {
  return part.type !== 'text' || part.text !== '';
}

function writeUserPart(part: UserPart): Block {
  if (part.type === 'text') return writeText(part);
  if (part.type === 'image') return writeImage(part);
  if (part.type === 'audio') throw unsayable('input_audio');
  const title = part.name === undefined ? {} : { title: part.name };
  return {
    type: 'document',
    source: writeDocument(part.source),
    ...title,
    ...writeMark(part.cache),
  };
}

function writeText({ text, cache }: TextPart): Block {
  return { type: 'text', text, ...writeMark(cache) };
}

function writeImage({ source, cache }: ImagePart): Block {
  return { type: 'image', source: writeSource(source), ...writeMark(cache) };
}

function writeSource(source: Source): Json {
  if (source.kind === 'url') return { type: 'url', url: source.url };
  return { type: 'base64', media_type: source.mediaType, data: source.base64 };
}

function writeDocument(source: Source): Json {
  if (source.kind === 'url' || source.mediaType !== 'text/plain') return writeSource(source);
  const data = Buffer.from(source.base64, 'base64').toString();
  return { type: 'text', media_type: 'text/plain', data };
}

function writeResult({ callId, content, isError, cache }: ToolResultPart): Block {
  const said = content.filter(isSaid);
  const blocks = said.map((part) => (part.type === 'text' ? writeText(part) : writeImage(part)));
  return {
    type: 'tool_result',
    tool_use_id: writeCallId(callId),
    ...(blocks.length > 0 ? { content: blocks } : {}),
    ...(isError ? { is_error: true } : {}),
    ...writeMark(cache),
  };
}

/**
 * Thoughts go back only to the provider that thought them: another's are left out, because Anthropic
 * refuses a request with a signature that is not its own, and does not read old thoughts anyway.
 */
function writeAssistantPart(part: AssistantPart): Block[] {
  if (part.type === 'tool-call') {
    const { name, cache } = part;
    const input = parseArguments(part.arguments);
    return [{ type: 'tool_use', id: writeCallId(part.id), name, input, ...writeMark(cache) }];
  }
  if (part.type === 'reasoning') {
    const data = signatureOf('anthropic', part.redacted);
    if (data) return [{ type: 'redacted_thinking', data }];
    const signature = signatureOf('anthropic', part.signature);
    return signature ? [{ type: 'thinking', thinking: part.text, signature }] : [];
  }
  if (part.text === '') return [];
  return [part.type === 'text' ? writeText(part) : { type: 'text', text: part.text }];
}

/**
 * Anthropic takes only letters, digits, `_` and `-`; other providers make ids with more. What such an
 * id was before is a part of what it becomes, so that two of them stay two, the same in every turn.
 */
function writeCallId(id: string): string {
  if (/^[\w-]+$/.test(id)) return id;
  return `${id.replaceAll(/[^\w-]/g, '_')}_${hash('sha256', id, 'hex').slice(0, hashDigits)}`;
}

const hashDigits = 12;

/** An answer to go on with may not end with white space. */
function trimEnd(turn: Turn | undefined): void {
  const last = turn?.content.at(-1);
  if (!turn || turn.role !== 'assistant' || !last || typeof last.text !== 'string') return;
  const text = last.text.trimEnd();
  turn.content.splice(-1, 1, ...(text === '' ? [] : [{ ...last, text }]));
}
