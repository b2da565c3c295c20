import type { ChatHistoryItem, ChatModelFunctionCall, ChatModelResponse } from 'node-llama-cpp';
import { Fault } from '../../kit/errors.ts';
import type { ChatMessage, ToolCall } from '../inference/request.ts';

/** Fault `invalid` for a chat without messages, a call without its answer, or an answer without call. */
export function checkHistory(messages: readonly ChatMessage[]): void {
  if (messages.length === 0) throw badMessages('messages must not be empty');
  const open = new Set<string>();
  for (const message of messages) {
    if (message.role === 'tool') {
      if (!open.delete(message.callId)) throw badMessages('a tool message answers no open call');
      continue;
    }
    if (open.size > 0) throw badMessages('a tool call has no tool message that answers it');
    if (message.role !== 'assistant') continue;
    for (const { id } of message.toolCalls ?? []) {
      if (open.has(id)) throw badMessages('two tool calls have the same id');
      open.add(id);
    }
  }
  if (open.size > 0) throw badMessages('a tool call has no tool message that answers it');
}

/**
 * The messages as turns: calls with their answers are part of the assistant's turn. The last turn
 * is the assistant's, a new one, or the given one to be continued.
 */
export function toHistory(messages: readonly ChatMessage[]): ChatHistoryItem[] {
  const history: ChatHistoryItem[] = [];
  const answers = new Map<string, string>();
  for (const message of messages)
    if (message.role === 'tool') answers.set(message.callId, message.content);
  for (const message of messages) {
    if (message.role === 'assistant') appendAnswer(lastAnswer(history), message, answers);
    else if (message.role !== 'tool') history.push({ type: message.role, text: message.content });
  }
  lastAnswer(history);
  return history;
}

type Answer = Extract<ChatMessage, { readonly role: 'assistant' }>;

/** An assistant that goes on after its calls is still in the same turn. */
function lastAnswer(history: ChatHistoryItem[]): ChatModelResponse {
  const last = history.at(-1);
  if (last?.type === 'model') return last;
  const fresh: ChatModelResponse = { type: 'model', response: [] };
  history.push(fresh);
  return fresh;
}

function appendAnswer(
  turn: ChatModelResponse,
  { content, toolCalls = [] }: Answer,
  answers: ReadonlyMap<string, string>,
): void {
  if (content !== '' || toolCalls.length === 0) turn.response.push(content);
  for (const [i, call] of toolCalls.entries())
    turn.response.push(toFunctionCall(call, answers, i === 0));
}

function toFunctionCall(
  { id, name, arguments: params }: ToolCall,
  answers: ReadonlyMap<string, string>,
  startsNewChunk: boolean,
): ChatModelFunctionCall {
  const result = readAnswer(answers.get(id) ?? '');
  return { type: 'functionCall', name, params, result, startsNewChunk };
}

/** JSON is shown to the model as it is, any other text as a string. */
function readAnswer(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function badMessages(message: string): Fault {
  return new Fault('invalid', message, { detail: { param: 'messages' } });
}
