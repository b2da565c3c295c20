import { columnOf } from '../conversations/conversation-row.ts';
import type { Message, NewMessage, ToolCall } from '../conversations/conversation.ts';
import type { PastMessage } from './turn-row.ts';

/** A message as the gateway takes it. */
export type ModelMessage = Readonly<Record<string, unknown>>;

/** So many of the latest messages a model is told of. */
export const historyMessagesMax = 500;

/** What the model is told of a call whose end nobody knows: the service died while it ran. */
export const unknownOutcome =
  'The outcome of this call is unknown: it was interrupted while it ran, and may or may not have taken effect.';

/**
 * The history as a model is told of it: answers that never came are left out, a call of a tool always
 * has a result, a result its call, and an answer its question.
 */
export function toModelMessages(stored: readonly PastMessage[]): ModelMessage[] {
  const history = fromQuestion(stored);
  const messages: ModelMessage[] = [];
  for (let at = 0; at < history.length; at += 1) {
    const past = history[at];
    if (!past || past.role === 'tool' || isNothing(past)) continue;
    messages.push(toModelMessage(past));
    const calls = readCalls(past);
    if (calls.length === 0) continue;
    const results = history.slice(at + 1, endOfResults(history, at + 1));
    messages.push(...calls.map((call) => resultOf(call, results)));
  }
  return messages;
}

/** A new message as it will be read from the history. */
export function toPast({ role, content, parts, toolCallId }: NewMessage): PastMessage {
  return {
    place: 0,
    role,
    content,
    parts: parts === undefined ? null : JSON.stringify(parts),
    status: 'complete',
    tool_calls: null,
    tool_call_id: toolCallId ?? null,
  };
}

/** A stored message as it is read from the history. */
export function pastOf(message: Message): PastMessage {
  const { place, role, content, parts, status, toolCalls, toolCallId } = message;
  return {
    place,
    role,
    content,
    parts: columnOf(parts),
    status,
    tool_calls: columnOf(toolCalls),
    tool_call_id: toolCallId ?? null,
  };
}

/** An answer with calls of tools, and their results, as the model gave and got them. */
export function roundMessages(
  content: string,
  results: readonly { readonly call: ToolCall; readonly content: string }[],
): ModelMessage[] {
  return [
    assistantMessage(
      content,
      results.map(({ call }) => call),
    ),
    ...results.map(({ call, content: said }) => toolMessage(call.id, said)),
  ];
}

/** A stored call's answer with the arguments of the gateway's API. */
export function writeCall({ id, name, arguments: text }: ToolCall) {
  return { id, type: 'function', function: { name, arguments: text } };
}

/** Where older messages do not fit, what follows the instructions begins with a question. */
function fromQuestion(history: readonly PastMessage[]): readonly PastMessage[] {
  const [first] = history;
  const head = first?.place === 1 && first.role === 'system' ? 1 : 0;
  const isWhole = (history[head]?.place ?? 0) <= head + 1;
  const question = history.findIndex(({ role }) => role === 'user');
  return isWhole || question < 0
    ? history
    : [...history.slice(0, head), ...history.slice(question)];
}

/** Pending or interrupted before its first word. */
function isNothing({ role, content, tool_calls: calls }: PastMessage): boolean {
  return role === 'assistant' && content === '' && calls === null;
}

function toModelMessage(past: PastMessage): ModelMessage {
  const { role, content, parts } = past;
  const calls = readCalls(past);
  if (calls.length > 0) return assistantMessage(content, calls);
  return { role, content: parts === null ? content : (JSON.parse(parts) as unknown) };
}

function assistantMessage(content: string, calls: readonly ToolCall[]): ModelMessage {
  const said = content === '' ? null : content;
  return { role: 'assistant', content: said, tool_calls: calls.map(writeCall) };
}

function readCalls({ tool_calls: calls }: PastMessage): readonly ToolCall[] {
  return calls === null ? [] : (JSON.parse(calls) as ToolCall[]);
}

function endOfResults(history: readonly PastMessage[], start: number): number {
  let end = start;
  while (history[end]?.role === 'tool') end += 1;
  return end;
}

function resultOf({ id }: ToolCall, results: readonly PastMessage[]): ModelMessage {
  const result = results.find(({ tool_call_id: callId }) => callId === id);
  return toolMessage(id, result?.content ?? unknownOutcome);
}

function toolMessage(callId: string, content: string): ModelMessage {
  return { role: 'tool', tool_call_id: callId, content };
}
