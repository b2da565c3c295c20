import type {
  AssistantPart,
  ImagePart,
  Message,
  TextPart,
  ToolCallPart,
  UserPart,
} from '../../conversation/request.ts';
import { signatureIn, thoughtsIn } from '../../dialects/openai/reasoning.ts';
import {
  isAbsent,
  listAt,
  nameAt,
  objectAt,
  textAt,
  textOrNone,
  unsupported,
  wrong,
  type Json,
} from './fields.ts';
import { keepPartRest, markText, readMark, readText, readUserPart } from './read-parts.ts';

/** What a message says that has no place in a conversation, by its place in the body. */
export type Extras = Record<string, unknown>;

/** The messages of a chat completion; what only this dialect knows goes to `extras`. */
export function readMessages(value: unknown, extras: Extras): Message[] {
  if (isAbsent(value)) throw wrong('messages', 'is missing');
  const list = listAt(value, 'messages');
  if (list.length === 0) throw wrong('messages', 'must have at least one message');
  return list.map((item, index) => {
    const at = `messages[${index}]`;
    return readMessage(objectAt(item, at), at, extras);
  });
}

function readMessage(message: Json, at: string, extras: Extras): Message {
  const { role } = message;
  switch (role) {
    case 'system':
    case 'developer':
      keepRest(message, at, extras);
      return withName({ role: 'system', parts: readTexts(message, at, extras) }, message, at);
    case 'user':
      keepRest(message, at, extras);
      return withName({ role, parts: readUserParts(message, at, extras) }, message, at);
    case 'assistant':
      keepRest(message, at, extras);
      return withName({ role, parts: readAssistant(message, at, extras) }, message, at);
    case 'tool':
      keepRest(message, at, extras);
      return readResult(message, at);
    case 'function':
      throw unsupported(`${at}.role`, 'function is not supported: use tools');
    default:
      throw wrong(`${at}.role`, 'must be system, developer, user, assistant or tool');
  }
}

/** Fields that are read, or that only repeat what an answer said for people. */
const known = new Set([
  'role',
  'content',
  'name',
  'tool_calls',
  'tool_call_id',
  'refusal',
  'reasoning_content',
  'reasoning',
  'reasoning_details',
  'annotations',
  'function_call',
  'cache_control',
]);

function keepRest(message: Json, at: string, extras: Extras): void {
  for (const name in message) {
    if (known.has(name) || isAbsent(message[name])) continue;
    if (/^[\w-]+$/.test(name) && name !== '__proto__') extras[`${at}.${name}`] = message[name];
    else throw wrong(at, 'has a field with a name that cannot be');
  }
  if (!isAbsent(message['function_call'])) {
    throw unsupported(`${at}.function_call`, 'is not supported: use tool_calls');
  }
}

/** What was read, with the name of who speaks where there is one. */
function withName<Read extends object>(
  read: Read,
  { name: given }: Json,
  at: string,
): Read & { readonly name?: string } {
  const name = textOrNone(given, `${at}.name`);
  return name === undefined ? read : { ...read, name };
}

function readTexts(message: Json, at: string, extras: Extras): TextPart[] {
  const { content } = message;
  const place = `${at}.content`;
  if (typeof content === 'string') return [markText(content, message, at)];
  return contentList(content, place).map((item, index) => {
    const part = objectAt(item, `${place}[${index}]`);
    if (part['type'] !== 'text') throw wrong(`${place}[${index}].type`, 'must be text');
    keepPartRest(part, `${place}[${index}]`, extras);
    return readText(part, `${place}[${index}]`);
  });
}

function contentList(content: unknown, at: string): readonly unknown[] {
  if (!Array.isArray(content)) throw wrong(at, 'must be a string or a list of parts');
  if (content.length === 0) throw wrong(at, 'must have at least one part');
  return content;
}

function readUserParts(message: Json, at: string, extras: Extras): UserPart[] {
  const { content } = message;
  const place = `${at}.content`;
  if (typeof content === 'string') return [markText(content, message, at)];
  const parts: UserPart[] = [];
  for (const [index, item] of contentList(content, place).entries()) {
    const part = readUserPart(item, `${place}[${index}]`);
    if (part) {
      parts.push(part);
      keepPartRest(item, `${place}[${index}]`, extras);
    } else extras[`${place}[${index}]`] = item;
  }
  return parts;
}

function readAssistant(message: Json, at: string, extras: Extras): AssistantPart[] {
  const parts: AssistantPart[] = [];
  for (const thought of thoughtsIn(message)) parts.push({ type: 'reasoning', ...thought });
  readSpoken(message, at, { parts, extras });
  const refusal = textOrNone(message['refusal'], `${at}.refusal`);
  if (refusal !== undefined && refusal !== '') parts.push({ type: 'refusal', text: refusal });
  const { tool_calls: calls } = message;
  if (!isAbsent(calls)) readCalls(calls, `${at}.tool_calls`, { parts, extras });
  if (parts.length === 0 && isAbsent(message['content']) && isAbsent(message['audio'])) {
    const hasOwn = Array.isArray(calls) && calls.length > 0;
    if (!hasOwn) throw wrong(`${at}.content`, 'must be given where there are no tool_calls');
  }
  return parts;
}

interface Reading {
  readonly parts: AssistantPart[];
  readonly extras: Extras;
}

function readSpoken(message: Json, at: string, { parts, extras }: Reading): void {
  const { content } = message;
  if (isAbsent(content)) return;
  if (typeof content === 'string') {
    if (content !== '') parts.push(markText(content, message, at));
    return;
  }
  const place = `${at}.content`;
  for (const [index, item] of listAt(content, place).entries()) {
    const part = objectAt(item, `${place}[${index}]`);
    if (part['type'] === 'text') parts.push(readText(part, `${place}[${index}]`));
    else if (part['type'] === 'refusal') {
      const text = textAt(part['refusal'], `${place}[${index}].refusal`);
      parts.push({ type: 'refusal', text });
    } else extras[`${place}[${index}]`] = item;
  }
}

function readCalls(value: unknown, at: string, { parts, extras }: Reading): void {
  for (const [index, item] of listAt(value, at).entries()) {
    const place = `${at}[${index}]`;
    const call = objectAt(item, place);
    const { type = 'function' } = call;
    if (type === 'function' || type === null) parts.push(readCall(call, place));
    else extras[place] = item;
  }
}

function readCall(call: Json, at: string): ToolCallPart {
  const named = objectAt(call['function'], `${at}.function`);
  const signature = signatureIn(call['extra_content']);
  return {
    type: 'tool-call',
    id: nameAt(call['id'], `${at}.id`),
    name: nameAt(named['name'], `${at}.function.name`),
    arguments: textAt(named['arguments'], `${at}.function.arguments`) || '{}',
    ...(signature !== undefined && { signature }),
  };
}

function readResult(message: Json, at: string): Message {
  const callId = nameAt(message['tool_call_id'], `${at}.tool_call_id`);
  const { content } = message;
  const read: (TextPart | ImagePart)[] = [];
  if (typeof content === 'string') read.push({ type: 'text', text: content });
  else {
    const place = `${at}.content`;
    for (const [index, item] of contentList(content, place).entries()) {
      const part = readUserPart(item, `${place}[${index}]`);
      if (part?.type !== 'text' && part?.type !== 'image') {
        throw wrong(`${place}[${index}].type`, 'must be text or image_url');
      }
      read.push(part);
    }
  }
  const mark = readMark(message['cache_control'], at);
  return { role: 'tool', parts: [{ type: 'tool-result', callId, content: read, ...mark }] };
}
