import { Fault } from '../../kit/errors.ts';
import type { NewMessage } from '../conversations/conversation.ts';
import { findPartFlaw, partTypes } from './content-parts.ts';
import type { RequestMessage } from './turn.ts';

/** A request's messages, checked. */
export interface CheckedMessages {
  /** Instructions, which hold for this turn. */
  readonly instructions: readonly RequestMessage[];
  /** What is new in a conversation: the last user's message, or the results of the caller's own tools. */
  readonly fresh: readonly NewMessage[];
}

const roles = new Set(['system', 'developer', 'user', 'assistant', 'tool', 'function']);
const mayBeEmpty = new Set(['assistant', 'tool', 'function']);
const messagesMax = 10_000;
const partsMax = 1_000;
/** Of one message's text: what a conversation keeps in one. */
export const textBytesMax = 1024 * 1024;

/** Refuses with `invalid` (`validation_error`) what no model could be asked. */
export function checkMessages(messages: readonly RequestMessage[]): void {
  if (messages.length === 0) throw flaw('messages', 'must hold at least one message');
  if (messages.length > messagesMax) throw flaw('messages', `must hold at most ${messagesMax}`);
  for (const [index, message] of messages.entries()) checkMessage(message, `messages.${index}`);
}

/** The same where they are for a conversation: the last one has to be something to answer. */
export function checkForConversation(messages: readonly RequestMessage[]): CheckedMessages {
  checkMessages(messages);
  const fresh = freshOf(messages);
  if (fresh.length === 0) throw flaw('messages', 'must hold a message of the role user');
  return {
    instructions: messages.filter(({ role }) => role === 'system' || role === 'developer'),
    fresh,
  };
}

/** Refuses options by which more would be answered than one text: nothing here would keep or tell it. */
export function checkOptions(options: Readonly<Record<string, unknown>>): void {
  const { n, logprobs, modalities } = options;
  if (n !== undefined && n !== null && n !== 1) throw flaw('n', 'must be 1: a chat has one answer');
  if (logprobs === true) throw flaw('logprobs', 'must be false: a chat keeps no probabilities');
  if (Array.isArray(modalities) && modalities.some((one) => one !== 'text'))
    throw flaw('modalities', 'must be text alone: a chat keeps nothing else of an answer');
}

function checkMessage(message: RequestMessage, path: string): void {
  if (typeof message !== 'object' || message === null) throw flaw(path, 'must be an object');
  const { role, content } = message;
  if (typeof role !== 'string' || !roles.has(role)) {
    throw flaw(`${path}.role`, `must be one of ${[...roles].join(', ')}`);
  }
  if (content !== null && content !== undefined) checkContent(role, content, `${path}.content`);
  else if (role !== 'assistant') throw flaw(`${path}.content`, 'must be given');
}

function checkContent(
  role: string,
  content: NonNullable<RequestMessage['content']>,
  path: string,
): void {
  if (isEmpty(content) && !mayBeEmpty.has(role)) throw flaw(path, 'must not be empty');
  if (typeof content === 'string') return checkSize(content, path);
  if (!Array.isArray(content)) throw flaw(path, 'must be a text or a list of parts');
  if (content.length > partsMax) throw flaw(path, `must hold at most ${partsMax} parts`);
  for (const [index, part] of content.entries()) checkPart(part, `${path}.${index}`);
}

function checkPart(part: unknown, path: string): void {
  const { type, text } = (part ?? {}) as { type?: unknown; text?: unknown };
  if (typeof part !== 'object' || typeof type !== 'string' || !partTypes.has(type)) {
    throw flaw(`${path}.type`, `must be one of ${[...partTypes].join(', ')}`);
  }
  const found = findPartFlaw(part as Readonly<Record<string, unknown>>);
  if (found) throw flaw(`${path}.${found.field}`, found.message);
  if (typeof text === 'string') checkSize(text, `${path}.text`);
}

function isEmpty(content: NonNullable<RequestMessage['content']>): boolean {
  return typeof content === 'string' ? content.trim() === '' : content.length === 0;
}

function checkSize(text: string, path: string): void {
  if (text.length * 3 <= textBytesMax || Buffer.byteLength(text) <= textBytesMax) return;
  throw flaw(path, `must be at most ${textBytesMax} bytes`);
}

/** The refusal of a field of the request. */
export function flaw(param: string, message: string): Fault {
  return new Fault('invalid', `${param} ${message}`, {
    reason: 'validation_error',
    detail: { param, errors: [{ path: param, message }] },
  });
}

function freshOf(messages: readonly RequestMessage[]): NewMessage[] {
  const results = [];
  for (let at = messages.length - 1; messages[at]?.role === 'tool'; at -= 1)
    results.push(messages[at]);
  if (results.length > 0) return results.toReversed().flatMap((message) => toNew(message) ?? []);
  return toNew(messages.findLast(({ role }) => role === 'user')) ?? [];
}

function toNew(message: RequestMessage | undefined): NewMessage[] | undefined {
  if (!message) return undefined;
  const { role, content, tool_call_id: callId } = message;
  const parts = Array.isArray(content) ? (content as readonly unknown[]) : undefined;
  return [
    {
      role: role === 'tool' ? 'tool' : 'user',
      content: typeof content === 'string' ? content : textOf(parts ?? []),
      ...(parts && !parts.every(isText) ? { parts } : {}),
      ...(typeof callId === 'string' ? { toolCallId: callId } : {}),
    },
  ];
}

function textOf(parts: readonly unknown[]): string {
  return parts.flatMap((part) => (isText(part) ? [part.text] : [])).join('\n');
}

function isText(part: unknown): part is { readonly text: string } {
  return typeof (part as { text?: unknown }).text === 'string';
}
