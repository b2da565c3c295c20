import { randomUUID } from 'node:crypto';
import type { Answer, Choice, Finish, Usage } from '../../conversation/answer.ts';
import type { AssistantPart, Citation, ToolCallPart } from '../../conversation/request.ts';
import { estimateUsage } from '../../conversation/collect.ts';
import { citationsIn } from './citations.ts';
import { writeExact } from '../exact-json.ts';
import { UpstreamError } from '../upstream-error.ts';
import { readFailure } from './failure.ts';
import { finishOf } from './finish.ts';
import { readHead } from './head.ts';
import { isRecord, listIn, recordIn, textIn } from '../untrusted.ts';
import type { Json } from '../json.ts';
import { countIn } from './count-in.ts';
import { providedSignature, providedThoughts, thinkingText } from './reasoning.ts';
import { usageIn } from './usage.ts';

/**
 * A whole chat completion. Throws `UpstreamError`: what the body says for an error inside an
 * answer of status 200, `broken` for what is no answer, `truncated` where a choice has no end.
 */
export function readAnswer(body: unknown): Answer {
  const sound = soundBody(body);
  for (const choice of listIn(sound['choices']))
    refuseImages(recordIn(recordIn(choice)['message']));
  const choices = listIn(sound['choices']).map(readChoice);
  return {
    ...readHead(sound),
    choices,
    usage: usageIn(sound) ?? estimateUsage(choices),
  };
}

/** What an answer took; estimated from its text where it does not say. Throws as `readAnswer` does. */
export function readUsage(body: unknown): Usage {
  const sound = soundBody(body);
  const choices = listIn(sound['choices']);
  const usage = usageIn(sound);
  if (!usage) return estimateUsage(choices.map(readChoice));
  for (const choice of choices) checkChoice(recordIn(choice));
  return usage;
}

/** An error that a provider sends with status 200, or inside a stream, as the failure it is. */
export function errorInside(body: Json): UpstreamError | undefined {
  const isError = body['object'] === 'error' || isSaid(body['error']);
  if (!isError) return undefined;
  return new UpstreamError(readFailure({ status: 200, headers: {}, body }));
}

function readCall(call: unknown): ToolCallPart {
  const { id, function: named, extra_content: extra, type } = recordIn(call);
  if (!isRecord(named)) {
    throw broken(`a call of the type ${String(type)} cannot be translated`);
  }
  const signature = providedSignature(extra);
  const name = textIn(named['name']);
  if (name === undefined) throw broken('a tool call has no name');
  return {
    type: 'tool-call',
    id: textIn(id) ?? newCallId(),
    name,
    arguments: argumentsText(named['arguments']),
    ...(signature !== undefined && { signature }),
  };
}

/** An id for a call of a server that gives none: an answer to the call must be able to name it. */
export function newCallId(): string {
  return `call_${randomUUID().replaceAll('-', '').slice(0, 24)}`;
}

/** Arguments as JSON text: some servers send the object itself. */
export function argumentsText(value: unknown): string {
  if (typeof value === 'string') return value;
  return isRecord(value) ? writeExact(value) : '';
}

/** The calls of a message or delta; the one of OpenAI's old `function_call` has no id. */
export function callsIn(message: Json): readonly unknown[] {
  const { function_call: old } = message;
  const calls = listIn(message['tool_calls']);
  return calls.length === 0 && isRecord(old) ? [{ function: old }] : calls;
}

/** Throws `untranslatable` for a message or delta that is spoken: nobody else has a word for audio. */
export function refuseAudio(message: Json): void {
  if (isRecord(message['audio'])) {
    throw untranslatable('the provider answers with audio, which cannot be said here');
  }
}

/** Throws `untranslatable` for a message or delta with pictures, as OpenRouter's: no other chat has them. */
export function refuseImages(message: Json): void {
  if (listIn(message['images']).length > 0) {
    throw untranslatable('the provider answers with images, which cannot be said here');
  }
}

function isSaid(error: unknown): boolean {
  return error !== undefined && error !== null && error !== false && error !== '';
}

function soundBody(body: unknown): Json {
  if (!isRecord(body)) throw broken('the provider sent no JSON object');
  const error = errorInside(body);
  if (error) throw error;
  if (listIn(body['choices']).length === 0) throw broken('the provider sent no choices');
  return body;
}

function readChoice(value: unknown, position: number): Choice {
  const choice = recordIn(value);
  checkChoice(choice);
  const message = recordIn(choice['message']);
  const parts = readParts(message);
  const hasCalls = parts.some(({ type }) => type === 'tool-call');
  const { logprobs } = choice;
  return {
    index: countIn(choice['index']) ?? position,
    parts,
    finish: finishOf(String(choice['finish_reason']), hasCalls),
    ...(logprobs !== undefined && logprobs !== null && { logprobs }),
  };
}

/** Throws where the choice was cut off, or is none at all. */
function checkChoice(choice: Json): void {
  const reason = textIn(choice['finish_reason']);
  if (reason !== undefined) {
    const finish = finishOf(reason, false);
    if (!hasMessage(choice, finish)) throw broken('the provider sent a choice without a message');
    return;
  }
  const isEmpty = readParts(recordIn(choice['message'])).length === 0;
  if (isEmpty) throw broken('the provider sent an empty answer');
  throw UpstreamError.of('truncated', 'the provider sent an answer without its end');
}

/** Where a filter let nothing through, there may be no message. */
function hasMessage({ message }: Json, finish: Finish): boolean {
  return isRecord(message) || (finish === 'content-filter' && (message ?? null) === null);
}

function readParts(message: Json): AssistantPart[] {
  const parts: AssistantPart[] = [];
  for (const thought of providedThoughts(message)) parts.push({ type: 'reasoning', ...thought });
  readContent(message['content'], parts);
  cite(parts, citationsIn(message));
  const refusal = textIn(message['refusal']);
  if (refusal !== undefined) parts.push({ type: 'refusal', text: refusal });
  for (const call of callsIn(message)) {
    const read = readCall(call);
    parts.push(read.arguments === '' ? { ...read, arguments: '{}' } : read);
  }
  if (parts.length === 0) refuseAudio(message);
  return parts;
}

function cite(parts: AssistantPart[], citations: readonly Citation[] | undefined): void {
  const last = parts.at(-1);
  if (citations && last?.type === 'text') parts[parts.length - 1] = { ...last, citations };
}

/** A text, or Mistral's list of `text` and `thinking`. */
function readContent(content: unknown, parts: AssistantPart[]): void {
  const text = textIn(content);
  if (text !== undefined) parts.push({ type: 'text', text });
  for (const item of listIn(content)) {
    const part = recordIn(item);
    const piece = textIn(part['text']);
    if (part['type'] === 'thinking') parts.push({ type: 'reasoning', text: thinkingText(part) });
    else if (piece !== undefined) parts.push({ type: 'text', text: piece });
  }
}

function broken(message: string): UpstreamError {
  return UpstreamError.of('broken', message);
}

function untranslatable(message: string): UpstreamError {
  return UpstreamError.of('untranslatable', message);
}
