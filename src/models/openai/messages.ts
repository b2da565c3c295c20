import { parseJsonBody } from '../../kit/http/json-body.ts';
import type { ChatMessage as Message, ToolCall as Call } from '../inference/request.ts';
import { invalidField, unsupported } from '../unsupported.ts';
import type { ChatMessage, ToolCall } from './chat-schemas.ts';

/** A chat in the runtime's words; throws `invalid` naming the message that makes no sense. */
export function toMessages(messages: readonly ChatMessage[]): Message[] {
  const callIds = new Set<string>();
  return messages.map((message, at) => {
    const place = `messages[${at}]`;
    for (const { id } of message.tool_calls ?? []) callIds.add(id);
    return toMessage(message, { place, callIds });
  });
}

interface MessageContext {
  readonly place: string;
  /** The calls up to here, each of which may be answered. */
  readonly callIds: ReadonlySet<string>;
}

function toMessage(message: ChatMessage, { place, callIds }: MessageContext): Message {
  const calls = message.tool_calls ?? [];
  if (message.role === 'assistant') {
    if (calls.length === 0) return { role: 'assistant', content: textOf(message, place) };
    const toolCalls = calls.map((call) => toCall(call, place));
    const content = message.content ? textOf(message, place) : '';
    return { role: 'assistant', content, toolCalls };
  }
  if (calls.length > 0) throw invalidField(`${place}.tool_calls`, 'are the assistant’s alone');
  if (message.role !== 'tool') {
    // The name that newer models have for the same thing.
    const role = message.role === 'developer' ? 'system' : message.role;
    return { role, content: textOf(message, place) };
  }
  const { tool_call_id: callId } = message;
  if (!callId || !callIds.has(callId)) {
    throw invalidField(`${place}.tool_call_id`, 'must be the id of a call before it');
  }
  return { role: 'tool', content: textOf(message, place), callId };
}

function textOf({ content }: ChatMessage, place: string): string {
  if (content === undefined || content === null) {
    throw invalidField(`${place}.content`, 'must be a text');
  }
  if (typeof content === 'string') return content;
  return content.map((part, at) => textOfPart(part, `${place}.content[${at}]`)).join('');
}

function textOfPart(part: { readonly type: string; readonly text?: string }, place: string) {
  if (part.type !== 'text') {
    throw unsupported(`${place}.type`, `${place} of type ${part.type}`);
  }
  if (part.text === undefined) throw invalidField(`${place}.text`, 'must be a text');
  return part.text;
}

function toCall({ id, function: { name, arguments: text } }: ToolCall, place: string): Call {
  return { id, name, arguments: parseArguments(text, `${place}.tool_calls`) };
}

/** An empty text stands for no arguments, as some models write it. */
function parseArguments(text: string, place: string): Readonly<Record<string, unknown>> {
  const value = text.trim() === '' ? {} : parseJson(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidField(place, 'must have arguments that are a sound JSON object as text');
  }
  // An object that JSON wrote: every key is a text.
  return value as Readonly<Record<string, unknown>>;
}

/** What a body may not hold, a text within it may not either. */
function parseJson(text: string): unknown {
  try {
    return parseJsonBody(text);
  } catch {
    return undefined;
  }
}
