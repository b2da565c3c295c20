import { tryParseJsonBody } from '../../kit/http/json-body.ts';
import { isJsonObject } from '../../kit/json-object.ts';
import type { ChatMessage as Message, ToolCall as Call } from '../inference/request.ts';
import { invalidField, unsupported } from '../unsupported.ts';
import type { ChatMessage, ContentPart, ToolCall } from './chat-schemas.ts';

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
    const content = spokenOf(message, place);
    if (calls.length === 0) return { role: 'assistant', content };
    return { role: 'assistant', content, toolCalls: calls.map((call) => toCall(call, place)) };
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

/** What an assistant said. To the model that goes on, a refusal is a text like any other. */
function spokenOf(message: ChatMessage, place: string): string {
  const refusal = message.refusal ?? '';
  const isSilent = !message.content && (refusal !== '' || message.tool_calls?.length);
  return (isSilent ? '' : textOf(message, place)) + refusal;
}

function textOf({ role, content }: ChatMessage, place: string): string {
  if (content === undefined || content === null) {
    throw invalidField(`${place}.content`, 'must be a text');
  }
  if (typeof content === 'string') return content;
  const mayRefuse = role === 'assistant';
  return content
    .map((part, at) => textOfPart(part, { place: `${place}.content[${at}]`, mayRefuse }))
    .join('');
}

function textOfPart(part: ContentPart, at: { place: string; mayRefuse: boolean }) {
  const { place, mayRefuse } = at;
  const isRefusal = part.type === 'refusal' && mayRefuse;
  if (part.type !== 'text' && !isRefusal) {
    throw unsupported(`${place}.type`, `${place} of type ${part.type}`);
  }
  const name = isRefusal ? 'refusal' : 'text';
  const { [name]: text } = part;
  if (text === undefined) throw invalidField(`${place}.${name}`, 'must be a text');
  return text;
}

function toCall({ id, function: { name, arguments: text } }: ToolCall, place: string): Call {
  return { id, name, arguments: parseArguments(text, `${place}.tool_calls`) };
}

/**
 * An empty text stands for no arguments, as some models write it. What a body may not hold, a text within it
 * may not either.
 */
function parseArguments(text: string, place: string): Readonly<Record<string, unknown>> {
  const value = text.trim() === '' ? {} : tryParseJsonBody(text);
  if (isJsonObject(value)) return value;
  throw invalidField(place, 'must have arguments that are a sound JSON object as text');
}
